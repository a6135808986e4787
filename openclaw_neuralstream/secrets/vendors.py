"""Keys that give themselves away by their shape: prefixes of vendors, private keys, tokens in URLs and headers."""

from __future__ import annotations

import re

from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.secrets.rule import Rule, detector, entropy, is_placeholder, looks_random
from openclaw_neuralstream.secrets.strength import is_name

_RANDOM = 3.6  # bits per character of what a machine made; a name in camel case has less
_START = r"(?<![A-Za-z0-9_\-])"
_END = r"(?![A-Za-z0-9_\-])"

# name, anchors (one of them is in the text), shape after the boundary.
# Bounded or possessive: a megabyte of hostile text stays linear.
_PREFIXED: tuple[tuple[str, str, str], ...] = (
    ("aws-access-key", "akia", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}"),
    ("gcp-api-key", "aiza", r"AIza[\w\-]{35}"),
    ("gcp-oauth-token", "ya29.", r"ya29\.[\w\-]{20,2000}"),
    ("gcp-client-secret", "gocspx-", r"GOCSPX-[\w\-]{28}"),
    ("gcp-refresh-token", "1//0", r"1//0[\w\-]{30,200}"),
    ("azure-client-secret", "q~", r"[\w~.]{3}\dQ~[\w~.\-]{31,34}"),
    ("github-token", "github_pat_", r"github_pat_\w{22,255}"),
    ("github-token", "ghp_ gho_ ghs_ ghu_ ghr_", r"gh[opsur]_[A-Za-z0-9]{36,255}"),
    ("gitlab-token", "glpat-", r"gl(?:pat|dt|rt|soat|ptt|imt|cbt|agent|oas|ft)-[\w\-.]{20,300}"),
    ("slack-token", "xox", r"xox[abcdeoprs](?:-[A-Za-z0-9.%]{1,300}){2,8}"),
    ("slack-token", "xapp-", r"xapp-\d-[A-Z0-9]{6,20}-\d{6,20}-[a-f0-9]{20,128}"),
    ("stripe-key", "k_", r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,250}"),
    ("stripe-webhook-secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,100}"),
    ("anthropic-key", "sk-ant-", r"sk-ant-[a-z0-9]{2,12}-[\w\-]{20,200}"),
    ("openrouter-key", "sk-or-", r"sk-or-v1-[0-9a-f]{40,100}"),
    ("openai-key", "sk-", r"sk-(?:proj|svcacct|admin|None|service)-[\w\-]{20,300}"),
    ("openai-key", "sk-", r"sk-(?=[a-zA-Z]{0,40}\d)[A-Za-z0-9]{20,100}"),
    ("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{32,100}"),
    ("xai-key", "xai-", r"xai-[A-Za-z0-9]{40,120}"),
    ("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{32,100}"),
    ("replicate-key", "r8_", r"r8_[A-Za-z0-9]{30,60}"),
    ("huggingface-token", "hf_", r"hf_[A-Za-z0-9]{30,60}"),
    ("huggingface-token", "api_org_", r"api_org_[A-Za-z0-9]{30,60}"),
    ("fireworks-key", "fw_", r"fw_[A-Za-z0-9]{22,40}"),
    ("npm-token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    ("pypi-token", "pypi-", r"pypi-[\w\-]{60,500}"),
    ("rubygems-key", "rubygems_", r"rubygems_[a-f0-9]{40,60}"),
    ("crates-token", "cio", r"cio[A-Za-z0-9]{32}"),
    ("nuget-key", "oy2", r"oy2[a-z0-9]{43}"),
    ("docker-token", "dckr_", r"dckr_(?:pat|oat)_[\w\-]{20,60}"),
    ("twilio-key", "", r"(?:SK|AC)[a-f0-9]{32}"),
    ("mailgun-key", "key-", r"key-[a-f0-9]{32}"),
    ("sendinblue-key", "xkeysib-", r"xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    ("resend-key", "re_", r"re_[A-Za-z0-9]{8,12}_[A-Za-z0-9]{20,40}"),
    ("square-token", "sq0", r"sq0(?:atp|csp|idp)-[\w\-]{22,60}"),
    ("square-token", "eaaa", r"EAAA[\w\-]{56,70}"),
    ("facebook-token", "eaa", r"EAA[A-Za-z0-9]{80,300}"),
    ("paypal-token", "access_token$", r"access_token\$(?:production|sandbox)\$[a-z0-9]{12,20}\$[a-f0-9]{32}"),
    ("shopify-token", "shp", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    ("digitalocean-token", "_v1_", r"do[opr]_v1_[a-f0-9]{64}"),
    ("heroku-key", "hrku-", r"HRKU-[\w\-]{36,80}"),
    ("linear-key", "lin_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,80}"),
    ("notion-token", "ntn_", r"ntn_[A-Za-z0-9]{40,60}"),
    ("notion-token", "secret_", r"secret_[A-Za-z0-9]{43}"),
    ("figma-token", "figd_", r"figd_[\w\-]{36,80}"),
    ("databricks-token", "dapi", r"dapi[a-f0-9]{32}(?:-\d)?"),
    ("doppler-token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_\-]{2,35}\.)?[A-Za-z0-9]{40,44}"),
    ("vault-token", "hv", r"hv[bsr]\.[\w\-]{24,300}"),
    ("terraform-token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w\-=]{60,70}"),
    ("pulumi-token", "pul-", r"pul-[a-f0-9]{40}"),
    ("postman-key", "pmak-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    ("sentry-token", "sntry", r"sntry[su]_[A-Za-z0-9+/=_\-]{40,400}"),
    ("grafana-token", "gls", r"glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}"),
    ("grafana-token", "glc_", r"glc_[A-Za-z0-9+/]{32,400}={0,2}"),
    ("newrelic-key", "nr", r"NR(?:AK|JS|II)-[A-Za-z0-9]{19,40}"),
    ("dropbox-token", "sl.", r"sl\.(?:u\.)?[\w\-]{100,1500}"),
    ("airtable-token", "pat", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    ("atlassian-token", "atatt3 atctt3", r"AT(?:ATT3|CTT3)[\w\-=]{60,250}"),
    ("bitbucket-token", "atbb", r"ATBB[\w=]{24,40}"),
    ("supabase-key", "sb", r"sb(?:p_[a-f0-9]{40}|_secret_[\w\-]{20,60})"),
    ("netlify-token", "nfp_", r"nfp_[A-Za-z0-9]{36,40}"),
    ("planetscale-token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[\w\-=.]{32,64}"),
    ("fly-token", "fm2_", r"fm[12][ar]?_[A-Za-z0-9+/]{60,2000}={0,3}"),
    ("fly-token", "fo1_", r"fo1_[\w\-]{40,60}"),
    ("alibaba-key", "ltai", r"LTAI[A-Za-z0-9]{12,24}"),
    ("tencent-key", "akid", r"AKID[A-Za-z0-9]{32,40}"),
    ("volcengine-key", "aklt", r"AKLT[A-Za-z0-9+/=_\-]{32,64}"),
    ("yandex-key", "aqvn", r"AQVN[\w\-]{35,38}"),
    ("yandex-token", "y0_", r"y0_[\w\-]{50,200}"),
    ("yandex-token", "t1.", r"t1\.[\w\-]{1,200}={0,2}\.[\w\-]{86}={0,2}"),
    ("vk-token", "vk1.a.", r"vk1\.a\.[\w\-]{50,300}"),
    ("age-key", "age-secret-key-1", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    ("extended-private-key", "prv", r"[xyzt]prv[1-9A-HJ-NP-Za-km-z]{100,112}"),
    ("onepassword-token", "ops_", r"ops_eyJ[A-Za-z0-9+/=_\-]{100,2000}"),
    ("tailscale-key", "tskey-", r"tskey-[a-z]{3,10}-[A-Za-z0-9]{6,20}-[A-Za-z0-9]{20,60}"),
    ("easypost-key", "ez", r"EZ[AT]K[A-Za-z0-9]{54}"),
    ("brave-key", "bsa", r"BSA[A-Za-z0-9_\-]{26,30}"),
    ("buildkite-token", "bkua_", r"bkua_[a-f0-9]{40}"),
    ("circleci-token", "ccip", r"CCIP(?:AT|RJ)_[A-Za-z0-9]{16,30}_[a-f0-9]{40}"),
    ("sonar-token", "sq", r"sq[pua]_[a-f0-9]{40}"),
    ("pinecone-key", "pcsk_", r"pcsk_[A-Za-z0-9]{4,12}_[A-Za-z0-9]{40,80}"),
    ("langsmith-key", "lsv2_", r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    ("langfuse-key", "sk-lf-", r"sk-lf-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}"),
    ("elevenlabs-key", "sk_", r"sk_[a-f0-9]{40,64}"),
    ("mapbox-token", "sk.eyj", r"sk\.eyJ[\w\-]{20,400}\.[\w\-]{20,30}"),
    ("cloudflare-key", "v1.0-", r"v1\.0-[a-f0-9]{24}-[a-f0-9]{100,200}"),
    ("firebase-key", ":apa91b", r"AAAA[\w\-]{7}:APA91b[\w\-]{100,180}"),
    ("slack-token", "xoxe", r"xoxe(?:-\d-[A-Za-z0-9]{40,300}|\.xox[bp]-\d-[A-Za-z0-9]{40,300})"),
    ("tinkoff-token", "t.", r"t\.[\w\-]{80,90}"),
    ("nvidia-key", "nvapi-", r"nvapi-[\w\-]{50,80}"),
    ("jina-key", "jina_", r"jina_[A-Za-z0-9]{50,70}"),
    ("together-key", "tgp_v1_", r"tgp_v1_[\w\-]{40,60}"),
    ("voyage-key", "pa-", r"pa-[\w\-]{43}"),
    ("cerebras-key", "csk-", r"csk-[a-z0-9]{40,60}"),
    ("firecrawl-key", "fc-", r"fc-[a-f0-9]{32}"),
    ("apify-token", "apify_api_", r"apify_api_[A-Za-z0-9]{30,50}"),
    ("contentful-token", "cfpat-", r"CFPAT-[\w\-]{40,50}"),
    ("hubspot-token", "pat-", r"pat-(?:na|eu)\d-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}"),
    ("mailersend-token", "mlsn.", r"mlsn\.[a-f0-9]{64}"),
    ("razorpay-key", "rzp_", r"rzp_(?:live|test)_[A-Za-z0-9]{14}"),
    ("render-key", "rnd_", r"rnd_[A-Za-z0-9]{28,40}"),
    ("vercel-token", "vc", r"vc[pkair]_[A-Za-z0-9]{24,60}"),
    ("sourcegraph-token", "sgp_", r"sgp_(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40}"),
    ("openshift-token", "sha256~", r"sha256~[\w\-]{43}"),
    ("prefect-key", "pnu_", r"pnu_[a-zA-Z0-9]{36}"),
    ("readme-key", "rdme_", r"rdme_[a-z0-9]{70}"),
    ("typeform-token", "tfp_", r"tfp_[\w\-.=]{50,70}"),
    ("shippo-token", "shippo_", r"shippo_(?:live|test)_[a-f0-9]{40}"),
    ("flutterwave-key", "flwseck", r"FLWSECK(?:_TEST)?-[a-hA-H0-9]{12,40}(?:-X)?"),
    ("adafruit-key", "aio_", r"aio_[A-Za-z0-9]{28}"),
    ("lichess-token", "li", r"li[po]_[A-Za-z0-9]{16,40}"),
    ("axiom-token", "xaat-", r"xa[ap]t-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}"),
    ("octopus-key", "api-", r"API-[A-Z0-9]{26,32}"),
    ("launchdarkly-key", "-", r"(?:sdk|api|mob)-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}"),
    ("bitcoin-key", "", r"(?:5[HJK][1-9A-HJ-NP-Za-km-z]{49}|[KL][1-9A-HJ-NP-Za-km-z]{51})"),
    ("tavily-key", "tvly-", r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{20,60}"),
)

# Of a vendor that the list above does not know: its prefix in words, then a tail that is longer than what ids are made of
# (ULID, KSUID, UUID). Digests, what is public by its name, and names of files and paths are none.
_UNKNOWN = (
    r"(?<![\w\-./+%@])(?!(?:sha\d*|md5|blake\w|pk|pub|public)[_\-])"
    r"(?:[a-z][a-z0-9]{1,11}|[A-Z][A-Z0-9]{1,11})[_\-](?:(?:[a-z0-9]{1,8}|[A-Z0-9]{1,8})[_\-]){0,8}+"
    r"[A-Za-z0-9_\-]{32,300}={0,2}(?![\w\-/]|\.\w)"
)
_SEPARATOR = lazy(r"[_\-]")
_HEX = lazy(r"[0-9a-fA-F]+")

_JWT = _START + r"eyJ[\w\-]{8,4000}\.(?:eyJ[\w\-]{4,8000}|[\w\-]{0,1000}\.[\w\-]{8,1000})(?:\.[\w\-]{0,8000}){0,3}"
_PEM = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?!-----END)(?:\n(?:[ \t]*[>|#*])+|[A-Za-z0-9+/=\s:,.()_\-]|\\[nrt\\]))*+"  # lines may be quoted: "> MIIE…"
    r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
)
_PUTTY = r"PuTTY-User-Key-File-[23]:[A-Za-z0-9+/=\s:,.()_\-]*+"
_URL_USER = r"://[^\s:/@?#\"'<>\[\]]{0,200}:([^\s/\"'<>\[\]@]{1,300}(?:@[^\s/\"'<>\[\]@]{1,100})??)@(?=[\w\[.\-])"
_URL_QUERY = (
    r"[?&#;](?:access_token|auth_token|refresh_token|id_token|api_?key|apikey|token|key|sig|signature|"
    r"secret|client_secret|password|passwd|pwd|auth|x-amz-signature|x-amz-security-token|x-goog-signature)=([^&\s\"'<>#\[\]]{6,4000})"
)
_BEARER = r"\b(?:bearer|authorization\s*[:=](?:\s*(?:[\"']|[\"']?(?:token|bot|basic|bearer|apikey)))?)\s+([\w~+/.=\-]{8,8000})"
_WEBHOOK = (
    r"https://(?:hooks\.slack\.com/(?:services|workflows|triggers)/|"
    r"(?:ptb\.|canary\.)?discord(?:app)?\.com/api/webhooks/\d{5,25}/|"
    r"hooks\.zapier\.com/hooks/catch/|maker\.ifttt\.com/trigger/\w{1,60}/(?:json/)?with/key/|"
    r"open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/|[\w.\-]{1,80}\.webhook\.office\.com/webhookb2/)"
    r"([\w\-/@]{14,400})"
)
_CURL_USER = r"(?:\s-u|\s--user)[\s=]+[\"']?[\w.@\-]{1,80}:([^\s\"']{3,100})"
_OPTION = (
    r"(?:\s--?(?:password|passwd|pass|api-key|apikey|token|secret)(?:=|\s+)[\"']?|\bsshpass\s+-p\s*[\"']?)"
    r"([^\s\"']{4,200})"
)

_BEHIND = (  # "aws secret access key wJal…": nothing between but a blank
    r"\b(?:(?:secret|access|api|private|auth)[ _-]{0,2}){1,3}(?:keys?|tokens?)[ \t]{1,3}[\"'`]?"
    r"([A-Za-z0-9/+_\-]{20,128}={0,2})(?![\w/+\-])"
)


def _in_header(value: str) -> bool:
    return not is_placeholder(value) and (any(c.isdigit() for c in value) or len(value) >= 32)


def _in_url(value: str) -> bool:
    return not is_placeholder(value) and (looks_random(value) or (len(value) <= 40 and any(c.isdigit() for c in value)))


def _made(value: str) -> bool:
    """Made by a machine: letters of both cases and digits, mixed, and no path."""
    kinds = any(c.isdigit() for c in value) and any(c.isupper() for c in value) and any(c.islower() for c in value)
    return (
        kinds
        and entropy(value) >= _RANDOM
        and not is_placeholder(value)
        and not value.startswith("/")
        and not is_name(value)
    )


def _keyed(value: str) -> bool:
    """A piece of it is made by a machine: in both cases, or long and of more letters than those of hex."""
    return any((_made(piece) and looks_random(piece)) or _lower_key(piece) for piece in _SEPARATOR.split(value))


def _lower_key(value: str) -> bool:
    digits = sum(map(str.isdigit, value))
    return (
        len(value) >= 32 and digits >= 3 and entropy(value) >= _RANDOM and value.islower() and not _HEX.fullmatch(value)
    )


def _real(value: str) -> bool:
    return not is_placeholder(value)


def _mixed(value: str) -> bool:
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


RULES: tuple[Rule, ...] = (
    Rule("private-key", detector(_PEM), ("private key",)),
    Rule("private-key", detector(_PUTTY), ("putty-user-key-file",)),
    Rule("jwt", detector(_JWT), ("eyj",)),
    *(
        Rule(name, detector(_START + shape + _END, re.ASCII), tuple(anchors.split()), accept=_mixed)
        for name, anchors, shape in _PREFIXED
    ),
    Rule("api-key", detector(_UNKNOWN, re.ASCII), ("_", "-"), accept=_keyed),
    Rule("webhook", detector(_WEBHOOK), ("hook", "ifttt"), group=1),
    Rule("url-password", detector(_URL_USER), ("://",), group=1, accept=_real),
    Rule("url-token", detector(_URL_QUERY, re.IGNORECASE), ("=",), group=1, accept=_in_url),
    Rule("api-key", detector(_BEHIND, re.IGNORECASE), ("key ", "keys ", "token ", "tokens "), group=1, accept=_made),
    Rule("authorization", detector(_BEARER, re.IGNORECASE), ("bearer", "authorization"), group=1, accept=_in_header),
    Rule("command-line-password", detector(_CURL_USER), ("-u", "--user"), group=1, accept=_real),
    Rule(
        "command-line-password",
        detector(_OPTION),
        ("-pass", "-token", "-secret", "-api", "sshpass"),
        group=1,
        accept=_real,
    ),
)
