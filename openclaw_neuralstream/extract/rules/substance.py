"""Whether a sentence says anything in particular: friendly talk is full of statements that hold for everybody. Pure."""

from __future__ import annotations

import re

from openclaw_neuralstream.extract.rules.entities import entities_of, specifics
from openclaw_neuralstream.lexicon import content_terms
from openclaw_neuralstream.patterns import lazy

_VAGUE = """
feel felt feeling make made making differ differenc impact chang power experi experienc moment journey life love world communiti support help good great amaz inspir
wonder happi lucki proud grate appreci enjoy fun time thing way peopl person everyon other togeth best dream goal motiv encourag positiv hope strong courag beauti
special realli keep continu tri determin excit focus balanc reflect realiz realis remind show share connect express emot peac calm relax stress interest new lot bit
kind sort much mani littl big small realli truli total definit sure agre think thought know knew guess mean meant see saw seen look come came go went gone get got take took
give gave put let want need like say said talk tell told hear heard chat catch work thank nice cool awesom fantast incred perfect week weekend month year day today
tonight yesterday tomorrow last next recent late ago sinc similar someth anyth everyth noth someon somebodi import matter meaning satisfi reward fulfil uniqu path
achiev progress care trust reli bond mind heart soul spirit energi vibe memori smile laugh sound seem start stop end part whole opportun chanc hard tough difficult challeng
struggl stump realiti bad turn night morn even afternoon absolut grand ground fleet spend spent made wish univers forget forgot easi overcom obstacl growth grow learn explor option accept understand inclus divers voic forc effort contribut involv join game wait readi forward step realli pretti super blast
difficult awar eye open setback symbol back own true self real sens great bless honor honour pic pictur photo send stun lift hand lend futur event wild busi deserv cheer
вмест мож чувств ощущен жизн мир любов счаст рад здоров отличн хорош прекрасн замечательн вдохновля мотивац поддержк поддержива помощ помога помочь людей люд человек друг вместе лучш
важн главн момент опыт впечатлен эмоц энерг радост надежд надеюс верю ценю благодар гордост горжус стараюс пытаюс хочу дума знаю понима вижу слыш говор рассказ
дела делат сдела стал начал продолж перемен измен изменен возможност шанс трудн сложн прост легк интересн нов мног немног нескольк чуть очень просто вообще недавн сегодня вчера
завтра недел месяц год день врем раз вещ что-т кто-т все всё прошл следующ так настоящ особен мечт цел путь шаг сил дух душ сердц
"""
_STEMS = frozenset(_VAGUE.split())
_VAGUE_ZH = lazy(
    r"我们?|你们?|他们?|她们?|大家|人们?|自己|彼此|每个人|生活|人生|世界|感觉|觉得|认为|相信|希望|努力|加油|坚持|继续|一起|共同|互相|支持|帮助|鼓励|改变|影响|意义|美好|幸福|快乐|开心|高兴|难过|感动|感激|感谢|珍惜|享受|"
    r"重要|特别|真的|非常|很|挺|太|最|更|都|也|还|就|是|的|了|着|过|在|有|会|能|要|想|让|把|给|对|和|跟|与|不|没|好|棒|赞|多|少|一些?|一个|一次|这|那|个|种|些|事情?|东西|时候|时间|时光|机会|经历|体验|力量|梦想|目标|"
    r"未来|今天|昨天|明天|最近|现在|以后|知道|明白|理解|看到|听到|说|做|成为|变得|越来越|充满|正能量|心情|情绪|放松|压力|平静|有趣|有意思|特殊|难忘|回忆|[，。！？、；：\s!~～…]"
)
_CLOSE = frozenset(
    [
        "famili",
        "fam",
        "friend",
        "buddi",
        "pal",
        "folk",
        "kid",
        "children",
        "team",
        "group",
        "crew",
        "семь",
        "семья",
        "друз",
        "команд",
        "родн",
        "близк",
    ]
)
_SPELLED = lazy(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twice|half|dozen)\b|(?<!\w)(?:два|две|двое|три|трое|четыре|пять|шесть|семь|восемь|девять|десять)(?!\w)|[二两三四五六七八九十]",
    re.IGNORECASE,
)
_IDIOM = lazy(
    r"\b(?:means? (?:a lot|so much|the world|everything)|hard work (?:\w+ )?(?:off|paid|pays)|pa(?:id|ying) off|(?:great|good|amazing|best|fond|special|lots of) memories|never say never|good ol['’]? times|we got this|"
    r"check (?:it|them|this|that|one) out|check out this|got a (?:funny |great )?story|always (?:here|up for|down (?:for|to)|there for)|much has happened|a better place|role model|confidence boost|in my career|"
    r"that(?:['’]s| is| was| will be) (?:all|it|everything)(?: for (?:now|today|tonight|me))?(?=[.!]*$)|so far so good|time flies|it is what it is|better late than never)\b|(?<!\w)(?:(?:вот и|на этом|пока|это) вс[её](?: на сегодня| пока)?[.!]*$|это того стоило|время летит|лучше поздно, чем никогда|всё получится|никогда не говори никогда)(?!\w)|^(?:先|就)?(?:这样|这些|到这(?:里|儿)?)(?:吧|了|啦)?[。!！]?$|一切都会好|时间过得真快|活到老学到老|加油|功夫不负",
    re.IGNORECASE,
)
_LEADING_NAME = lazy(r"^[A-ZА-ЯЁ][\w-]+(?:,\s+|! )(?=[a-zа-я]|I\b|[Мм]не\b|Я\b)")
_TRAILING_NAME = lazy(r",\s+[A-ZА-ЯЁ][\w-]+(?=[.!?…]*$|! )")
_OTHER_NAME = lazy(r"(?<=[\w,] )[A-ZА-ЯЁ][\w-]{2,}")
_FRAGMENT = lazy(
    r"^(?:since|because|when|while|until|as|although|though|whereas|so that|even if)\b[^,—–:]*$|^(?:потому что|так как|пока|хотя|чтобы)(?!\w)[^,—–]*$|^(?:因为|虽然|直到)[^，,]*$|"
    r"^(?:after|before|about|despite|during|like|with|without|from|just|especially)\b(?!.*\b(?:i|we|he|she|they|it|is|are|was|were|has|have|had|will|can|must)\b)(?!.*['’](?:s|re|m|ve|ll|d)\b)[^,—–:\d]*$",
    re.IGNORECASE,
)


def spoken_to(sentence: str) -> str:
    """The sentence without the name of whom it is said to: "Agree, John!"."""
    text = _LEADING_NAME.sub("", sentence, count=1)
    match = _TRAILING_NAME.search(text)
    if match and not _OTHER_NAME.search(text[: match.start()]):
        text = text[: match.start()] + text[match.end() :]
    return text


def says_nothing(sentence: str) -> bool:
    """Whether all its words are such as anybody says of anything, or it is only the half of a sentence."""
    text = spoken_to(sentence)
    if _FRAGMENT.match(text):
        return True
    if specifics(text, entities_of(text)) or _SPELLED.search(text):
        return False
    if re.search(r"[\u3400-\u9fff]", text) and not _IDIOM.search(text):
        return len(_VAGUE_ZH.sub("", text)) < 2
    if _IDIOM.search(text):
        return True
    terms = content_terms(text)
    told = {term for term in terms if not _vague(term)}
    return told <= _CLOSE or (len(told) == 1 and len(set(terms)) >= 5)


def _vague(term: str) -> bool:
    return term in _STEMS or any(len(stem) >= 5 and term.startswith(stem) for stem in _BY_FIRST.get(term[:2], ()))


_BY_FIRST: dict[str, tuple[str, ...]] = {
    first: tuple(stem for stem in _STEMS if stem[:2] == first) for first in {stem[:2] for stem in _STEMS}
}
