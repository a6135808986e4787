"""The home of detect-secrets: its detectors as rules. Imported late, it brings an HTTP client that is never used."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import cache, reduce

from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.secrets.rule import Rule, detector

# module, class, our name, group of each pattern that is the secret, anchors of each pattern (lower case).
# Detectors that are left out: those whose patterns are not linear (jwt, npm, openai), that catch words
# (keyword, artifactory), numbers of no secrecy (ip_public), or any high entropy; rules of our own do their work.
_CATALOGUE: tuple[tuple[str, str, str, int, tuple[str, ...]], ...] = (
    ("azure_storage_key", "AzureStorageKeyDetector", "azure-storage-key", 0, ("accountkey=",)),
    ("cloudant", "CloudantDetector", "cloudant", 1, ("cloudant", "cl_", "cl-", "clou_", "clou-")),
    (
        "gitlab_token",
        "GitLabTokenDetector",
        "gitlab-token",
        0,
        ("glpat", "gldt", "glft", "glsoat", "glrt", "glcbt", "glimt", "glptt", "glagent", "gloas", "gr1348941"),
    ),
    ("ibm_cloud_iam", "IbmCloudIamDetector", "ibm-cloud-key", 1, ("ibm_", "ibm-", "iam_", "iam-", "cloud_", "cloud-")),
    ("ibm_cos_hmac", "IbmCosHmacDetector", "ibm-cos-key", 1, ("secret_", "secret-", "secretaccess")),
    ("mailchimp", "MailchimpDetector", "mailchimp-key", 0, tuple(f"-us{digit}" for digit in range(1, 10))),
    ("pypi_token", "PypiTokenDetector", "pypi-token", 0, ("pypi-age",)),
    ("sendgrid", "SendGridDetector", "sendgrid-key", 0, ("sg.",)),
    ("slack", "SlackDetector", "slack-token", 0, ("xox", "hooks.slack.com")),
    ("softlayer", "SoftlayerDetector", "softlayer-key", 1, ("softlayer", "sl_", "sl-", "slapi")),
    ("square_oauth", "SquareOAuthDetector", "square-token", 0, ("sq0csp-",)),
    ("stripe", "StripeDetector", "stripe-key", 0, ("k_live_",)),
    ("telegram_token", "TelegramBotTokenDetector", "telegram-token", 0, (":aa",)),
    ("aws", "AWSKeyDetector", "aws-access-key", 0, ("akia", "asia", "abia", "acca", "a3t")),
    ("discord", "DiscordBotTokenDetector", "discord-token", 0, ()),
    ("github_token", "GitHubTokenDetector", "github-token", 0, ("gho_", "ghp_", "ghr_", "ghs_", "ghu_")),
)

# Three runs of blanks beside each other cost the cube of their number: a few blanks are enough.
_BOUNDED = (("(?: *)", "(?: {0,4})"), ("| +|", "| {1,4}|"))

ANCHORS = frozenset(anchor for *_, anchors in _CATALOGUE for anchor in anchors)
_DISCORD_SHAPE = lazy(r"[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27}")


def can_apply(lowered: str, text: str) -> bool:
    """Whether any of its detectors could find something; saves the import for most texts."""
    return any(anchor in lowered for anchor in ANCHORS) or bool(_DISCORD_SHAPE.search(text))


@cache
def rules() -> tuple[Rule, ...]:
    """The detectors of the library that are in use."""
    return tuple(_rules())


def _rules() -> Iterator[Rule]:
    for module, name, ours, group, anchors in _CATALOGUE:
        plugin = getattr(importlib.import_module(f"detect_secrets.plugins.{module}"), name)
        for pattern in plugin.denylist:
            bounded = reduce(lambda shape, pair: shape.replace(*pair), _BOUNDED, pattern.pattern)
            yield Rule(ours, detector(bounded, pattern.flags), anchors, min(group, pattern.groups))
