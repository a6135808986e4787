"""Names of models, devices, releases, tickets and hosts beside the words of credentials: digits in them, and no secret.

Written before the rules were changed for it. Whoever changes a rule looks at `tuning()` only; `held_out()` gives the
figures. Every name stands in every sentence.
"""

from __future__ import annotations

NAMES: dict[str, str] = {
    "model": "GPT-4o-mini-2024-07-18 claude-3-5-sonnet-20241022 gpt-4.1-mini-2025-04-14 claude-opus-4-20250514 qwen2.5-coder-32b-instruct "
    "Llama-3.3-70B-Instruct-Q4_K_M mistral-small-24b-instruct-2501 DeepSeek-R1-Distill-Qwen-14B gemini-2.5-flash-preview-05-20 o3-mini-2025-01-31 "
    "text-embedding-3-large-2024 whisper-large-v3-turbo-q5_0 Phi-3.5-mini-instruct-onnx YandexGPT-5-Lite-8B-instruct",
    "ticket": "OPS-12345-rotate-prod PROJ-1234-login-page SEC-889-expire-tokens JIRA-20451-key-rotation INFRA-77-move-vault-to-eu GH-10422-fix-oauth2-flow CVE-2024-12345-openssl",
    "device": "iPhone14Pro iPhone15 MacBookPro18 GalaxyS24Ultra Pixel8Pro ThinkPadX1 iPadAir5 YubiKey5C WH1000XM5 RaspberryPi5 SurfacePro11 RedmiNote13Pro Windows11Pro PlayStation5Slim MateBook16s",
    "version": "R2024b-Update3 v2.14.0-rc.3-arm64 release-2024.11.22-hotfix1 openssl-3.0.13-r0 Ubuntu24.04.1-LTS build-20241122-nightly PostgreSQL16.4-alpine Debian12-bookworm-slim",
    "branch": "feature/OPS-4521-new-login-form fix-oauth2-refresh-2024-11 release-2025-q1-candidate-2 dependabot-npm-axios-1.7.4 hotfix-login-2fa-v2 user-alice-wip-login3",
    "package": "boto3-1.35.63-py3-none-any requests-oauthlib-2.0.0 python-jose-3.3.0-cp312 spring-security-oauth2-6.3.4 log4j-core-2.24.1 libpam-pwquality-1.4.5 jsonwebtoken@9.0.2",
    "host": "ip-10-0-12-34-eu-west-1 k8s-node-pool-1-worker-07 db-prod-02-replica-eu-central-1 build-agent-linux-04 srv-mail-01.internal.corp vpn-gw-fra-03 ec2-3-120-44-7-compute",
    "tag": "python:3.12-slim-bookworm nginx:1.27.2-alpine3.20 registry-2.8.3-arm64v8 postgres:16.4-alpine3.20 cuda-12.4.1-cudnn9-devel-ubuntu22.04 node:22.11.0-bullseye-slim vault:1.18.1-ubi9",
}  # fmt: skip
SENTENCES = (
    "the key insight: use {}",
    "API key rotation is tracked under {} now",
    "the token limit of {} is 1M",
    "the login page fails on {}",
    "I forgot my password on {} again",
    "the password reset is broken in {}",
    "ключ к успеху: взять {}",
    "лимит токенов у {} вырос",
    "логин не работает на {}",
    "пароль сменить на {} до пятницы",
    "关键令牌限制在{}里改了",
    "登录页面在{}上打不开",
    "密码忘在{}上了",
)


def _named(half: int) -> list[str]:
    names = [name for kind in NAMES.values() for name in kind.split()]
    return [sentence.format(name) for name in names[half::2] for sentence in SENTENCES]


def tuning() -> list[str]:
    """Sentences that rules may be changed for."""
    return _named(0)


def held_out() -> list[str]:
    """Sentences that give the figures; nobody changes a rule for one of them."""
    return _named(1)
