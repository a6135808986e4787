"""What a question is about, by one name in all languages: the thesaurus of gems, what people ask about, and names."""

from __future__ import annotations

import re
import unicodedata

from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.text.lexicon import is_stop, script_of, stem
from openclaw_neuralstream.text.questions.thesaurus import topics_of

MOST_TOPICS = 6

_CONCEPTS: tuple[tuple[str, tuple[str, str, str], str, str, str], ...] = (
    # topic, its name in English, Chinese and Russian; English stems, Chinese words, Russian stems
    ("messaging", ("messages", "消息", "сообщения"),
     r"messag|mention|chat|inbox|notif|discord|telegram|slack|whatsapp|wechat|ping(?:ed|s)?\b|dm\b|reply|replies",
     "消息 艾特 提及 聊天 通知 群聊 频道 微信 回复 短信 私信 邮件",
     r"сообщени|упомина|чат|уведомл|телеграм|дискорд|рассылк|ответ"),
    ("configuration", ("configuration", "配置", "настройки"),
     r"config|setting|set ?up|option|preference|enable|disable|toggle|permission|turn (?:on|off)|avoid|prevent",
     "配置 设置 选项 启用 禁用 关闭 开启 权限 避免 防止 参数 安装",
     r"настро|конфиг|параметр|включ|отключ|разреш|опци|избежа|установ"),
    ("errors", ("errors", "错误", "ошибки"),
     r"error|fail|crash|exception|broke|broken|bug|traceback|timeout|does ?n[o']t work",
     "错误 报错 失败 崩溃 异常 故障 问题 超时 修复",
     r"ошибк|сбо[йяи]|падает|упал|исключени|не работает|таймаут|поломк"),
    ("security", ("security", "安全", "безопасность"),
     r"password|secret|token|encrypt|certificate|login|auth|vpn|firewall|safe\b",
     "密码 安全 令牌 加密 证书 登录 认证 防火墙 保险柜",
     r"парол|секрет|токен|шифров|сертификат|логин|авториз|безопасн|сейф"),
    ("shopping", ("shopping", "购物", "покупки"),
     r"buy|bought|order|shop|deliver|refund|discount|gift|present\b",
     "购买 购物 订单 下单 快递 退款 折扣 礼物 买",
     r"купи|покуп|заказ|доставк|возврат|скидк|подар"),
    ("plans", ("plans", "计划", "планы"),
     r"plan|goal|next step|roadmap|strateg|project|milestone|idea",
     "计划 目标 下一步 路线图 策略 项目 想法",
     r"план|цел[ьиею]|стратег|проект|иде[яи]|следующ\w+ шаг"),
    ("models", ("models", "模型", "модели"),
     r"\bmodels?\b|llm|prompt|embedding|gpt|claude|agent|fine-?tun|context window",
     "模型 提示词 向量 大模型 智能体 上下文 微调",
     r"модел|промпт|эмбеддинг|агент|контекст|дообуч"),
    ("trading", ("trading", "交易", "торговля"),
     r"trad(?:e|ing)|stock|portfolio|option chain|hedge|broker|dividend|crypto|bitcoin",
     "交易 股票 期权 组合 对冲 券商 股息 加密货币 比特币",
     r"торгов|акци[йяю]|портфел|опцион|брокер|дивиденд|крипт|биткоин"),
    ("weather", ("weather", "天气", "погода"),
     r"weather|rain|snow|temperature|forecast|storm", "天气 下雨 下雪 温度 预报 台风", r"погод|дожд|снег|температур|прогноз|шторм"),
    ("car", ("car", "汽车", "машина"),
     r"\bcar\b|engine|tyre|tire|garage|brake|mileage|fuel", "汽车 轮胎 发动机 车库 刹车 油耗 修车", r"машин|автомоб|шин[аыу]|двигател|гараж|тормоз|бензин"),
)  # fmt: skip

CHINESE = frozenset(word for _, names, _, chinese, _ in _CONCEPTS for word in (*chinese.split(), names[1]))
"""Chinese words that the concepts know as one."""

_SOUGHT = tuple(
    (topic, names, lazy(rf"\b(?:{english})|{'|'.join(chinese.split())}|\b(?:{russian})", re.IGNORECASE))
    for topic, names, english, chinese, russian in _CONCEPTS
)
_LANGUAGES = {"latin": 0, "cjk": 1, "cyrillic": 2}
_NAME = lazy(r"(?<=[\w,;:’'\"«(] )[A-ZА-ЯЁ][\w-]{2,}|\b[A-Z][a-z]+[A-Z]\w*|\b[A-Z]{2,}\w*\b|\b\w+[_]\w+\b")
_LATIN = lazy(r"[A-Za-z][A-Za-z0-9+#.-]+[A-Za-z0-9+#]")
_MOST_NAMES = 3


def asked_topics(text: str) -> tuple[str, ...]:
    """What it is about in English words, whatever its language, then what it calls by name; () for small talk."""
    known = [topic for topic, _, sought in _SOUGHT if sought.search(text)]
    found = dict.fromkeys([*known[:3], *topics_of(text, limit=3), *names_of(text)])
    return tuple(found)[:MOST_TOPICS]


def concepts_in(text: str) -> list[str]:
    """The concepts that a text is about, named in its own language."""
    language = _LANGUAGES.get(script_of(text), 0)
    return [names[language] for _, names, sought in _SOUGHT if sought.search(text)]


def names_of(text: str) -> tuple[str, ...]:
    """What it calls by name, as topics: capitalised inside a sentence, an identifier, Latin letters among others."""
    sought = _LATIN if script_of(text) in ("cjk", "cyrillic") else _NAME
    found = (topic_of(name) for name in sought.findall(text))
    return tuple(dict.fromkeys(name for name in found if name and not is_stop(stem(name))))[:_MOST_NAMES]


def topic_of(words: str) -> str:
    """How a topic is written: "Discord config" → "discord_config"."""
    return re.sub(r"[\W_]+", "_", unicodedata.normalize("NFKC", words).casefold()).strip("_")
