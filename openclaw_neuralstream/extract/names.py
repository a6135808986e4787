"""Names and identifiers in a sentence, told by their form."""

from __future__ import annotations

import re

from openclaw_neuralstream.patterns import lazy

_IDENTIFIER = lazy(
    r"`([^`\n]{2,80})`|(?<![\w/])((?:~|\.{1,2})?/[\w.\-]+(?:/[\w.\-]+)+)|\b(https?://[^\s<>\"')\]，。]+)|\b([a-z]+(?:_[a-z0-9]+)+)\b|"
    r"\b([a-z]+[A-Z]\w+|[A-Z][a-z]+[A-Z]\w*)\b|\b([\w\-]+\.(?:py|js|ts|rs|go|md|json|ya?ml|toml|sh|sql|txt|cfg|ini|com|org|io|net|dev|ru|cn))\b|"
    r"\b(\d{1,3}(?:\.\d{1,3}){3}(?::\d{2,5})?)\b|\b([\w.+\-]+@[\w\-]+\.[\w.]+)\b"
)
_NAME_LATIN = lazy(r"\b[A-Z][\w'’&+#\-]*(?:\s+(?:(?:of|de|van|von|the|and|&)\s*)?[A-Z0-9][\w'’&+#.\-]*)*")
_NAME_CYRILLIC = lazy(r"\b[А-ЯЁ][а-яёА-ЯЁ\-]+(?:\s+[А-ЯЁ][а-яёА-ЯЁ\-]+)*")
_NAME_CJK = lazy(
    r"[《「『“\"]([^》」』”\"]{1,30})[》」』”\"]|(?:叫做?|名叫|名字是|姓名是|称呼我(?:为)?|叫我)\s*([\u4e00-\u9fff·]{1,6}?)(?=[,，。.!！；;、\s]|$|的|是|在|和)|"
    r"([\u4e00-\u9fff]{2,6}(?:公司|大学|医院|集团|银行|项目|中学|小学|机场|车站|路|省|市|区|县))|"
    r"(?:住在|在|去|到|来自|搬到|飞)(?:了(?!解)|过)?([\u4e00-\u9fff]{2,3}?)(?=[,，。.!！；;、\s]|$|工作|上班|上学|生活|住|出差|旅行|旅游|读书|的)"
)
_CALLED_CJK = lazy(
    r"(?<![\u4e00-\u9fff])(?:老(?!师|板|婆|公|家|人|是|实|外|早|大|二|化|年)|小(?!时|心|学|说|区|组|孩|姐|朋|型|程|声|费|吃|事|数|姑|舅|叔|姨|票|麦|米|鸟|猫|狗|子|时候)|阿(?!姨|里|拉|根|富|尔|联|司))[\u4e00-\u9fff](?![\u4e00-\u9fff]{0,1}(?:店|院))|"
    r"[\u4e00-\u9fff]{1,2}(?:医生|大夫|老师|经理|律师|师傅|教授|主任|阿姨|叔叔?|总(?![是会要在体共部结的统]))(?=[\s,，。、的在说把她他只]|$)"
)
_TITLED = lazy(r"(?:跟|和|给|找|由|是|归|叫|请|发给|让)(?=[\u4e00-\u9fff]{2})")
_SUBJECT_LATIN = lazy(
    r"^([A-Z][a-z]{2,}(?: [A-Z][a-z]+)?) (?:always |usually |also |only |now |never )?(?:keeps|lives|works|has|owns|teaches|runs|handles|manages|hates|likes|loves|prefers|speaks|drives|studies|plays|"
    r"owes|leads|covers|pays|moved?s?|starts|leaves|arrives|needs|wants|knows|uses|stores|hosts|reports|eats|drinks|collects|replaces|joins|joined|got|quit|bought|sold|married|retires|sits|"
    r"took|takes over|can't|cannot|doesn't|isn't|is (?:our|my|the|an?|in|on|from|allergic|vegan|vegetarian|away|back|out|responsible)\b)"
)
_SUBJECT_CYRILLIC = lazy(
    r"^([А-ЯЁ][а-яё]{2,}(?: [А-ЯЁ][а-яё]+)?) (?:всегда |обычно |тоже |теперь |больше |никогда |не )?(?:хранит|держит|живёт|живет|работает|ведёт|ведет|отвечает|любит|предпочитает|ненавидит|учит|учится|преподаёт|"
    r"водит|играет|ест|пьёт|пьет|курит|говорит по|знает|умеет|использует|руководит|заведует|владеет|снимает|платит|приезжает|уезжает|выходит|берёт|берет|возьмёт|забирает|принимает|болеет|носит|собирает|переехала?|"
    r"купила?|продала?|уволилась?|уволился|вышла|женился|родила?|поступила?|получила?|взяла?)\b"
)
_INTRODUCED = lazy(
    r"(?:\bname(?:'s| is)|\bcalled|\bnamed) ([A-Z][\w-]+)|\bзовут ([А-ЯЁ][\w-]+)|(?:她|他|女儿|儿子|老婆|媳妇|妹妹|弟弟)叫([\u4e00-\u9fff]{2,3}?)(?=[\s,，。、]|$)"
)
_RELATIVE = lazy(
    r"\b(?:aunt|auntie|uncle|cousin|nan|granny|grandma|grandpa|nephew|niece|sister|brother|wife|husband|son|daughter|colleague|neighbou?r|boss|friend) ([A-Z][\w-]+)",
)
_KIN = lazy(
    r"(我(?:爸|妈|爷爷|奶奶|外公|外婆|姐|哥|弟|妹|老婆|老公|女儿|儿子)(?:爸|妈|姐|哥|弟|妹)?)(?!叫)|у (отца|папы|мамы|мужа|жены|брата|сестры|сына|дочки|дочери|бабушки|дедушки)\b",
    re.IGNORECASE,
)
_NEVER_SUBJECTS = """
everyone everybody nobody someone somebody anyone something nothing everything this that these those there here he
she they what which who one each water time money life people man woman god love business никто кто все всё кое кто-то
что-то каждый любой человек люди жизнь время вода дождь снег солнце погода она они оно этот эта это
"""
_NO_SUBJECTS = frozenset(_NEVER_SUBJECTS.split())
_LATIN_IN_CJK = lazy(r"[A-Za-z][\w.+#\-]{1,}(?:\s[A-Z0-9][\w.+#\-]*)*")
_QUOTED = lazy(r"[\"“«]([^\"”»\n]{2,60})[\"”»]")
_NUMBER = lazy(r"\d")
_IS = lazy(
    r"(?<=['’]s) (?:a|an|the|so|about|super|huge|important|really|very|too|such|like|all|just|been|mostly|always|getting|going|not|my|your|great|good|awesome|amazing|nice|fun|cool|hard|tough|\w+(?:ing|able|ful|ive|ous|some))\b",
    re.IGNORECASE,
)
_SPELLED = lazy(
    r"\b(?:in|by|until|till|since|from|mid|early|late|every|next|last) (?:january|february|march|april|may|june|july|august|september|october|november|december)\b|"
    r"\b(?:has|have|had|holds?|seats?|owns?|keeps?|grows?|there are) (?:now |about |only )?(?:three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-\w+)?) "
    r"(?:[\w-]+ ){0,2}?(?!(?:times|seconds|minutes|hours|things|ways|options|steps|reasons|questions|points|words|sentences|paragraphs|lines|bullets|examples|tips|ideas|versions|guesses|tries)\b)[\w-]{2,}s\b|"
    r"(?<!\w)(?:в|во|на|у) [а-яё]{3,} (?:теперь |сейчас |уже |всего )?(?:три|четыре|пять|шесть|семь|восемь|девять|десять|(?:один|две|три|четыр|пят|шест|сем|восем|девят)надцать|двадцать|тридцать|сорок|пятьдесят|шестьдесят|семьдесят|восемьдесят|девяносто) "
    r"(?!раза?\b|минут|секунд|час|вариант|шаг|причин|вопрос|слов|предложени|абзац|пункт|пример|иде|вещ|способ)[а-яё]{3,}(?!\w)|"
    r"[二两三四五六七八九十百][一二三四五六七八九十百]{0,3}(?:棵|只|条|本|张|台|辆|位|名|头|匹|间|套|箱|株|座|户)|"
    r"\b(?:at|until|till|after|before) (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b|"
    r"(?<!\w)(?:до|с|в|к|после) (?:часа|двух|тр[её]х|четыр[её]х|пяти|шести|семи|восьми|девяти|десяти|одиннадцати|двенадцати|половин[аеы] \w+)(?!\w)|"
    r"(?<![有慢快短长大小多少好高低])(?!一点(?!半|钟|到|开|结|关|起))[一二两三四五六七八九十]{1,3}(?:点(?!点|儿|也|都)|号|岁|块|元|公斤|斤|公里|小时|分钟|个月|周年|楼|层|室|平米|度)",
    re.IGNORECASE,
)
_PARTICLES = lazy(r"(?<=[\u4e00-\u9fff]{2})(?:了|吧|呢|啦|吗|嘛|呀|啊|哦)+$")
"""What Chinese puts behind a verb or at the end of a sentence stands beside a name, and is no part of it."""
PLACE_CJK = lazy(
    "北京|上海|广州|深圳|杭州|南京|苏州|成都|重庆|武汉|西安|天津|青岛|大连|厦门|长沙|郑州|沈阳|济南|合肥|福州|昆明|宁波|无锡|哈尔滨|长春|石家庄|太原|南昌|贵阳|南宁|海口|三亚|兰州|西宁|银川|拉萨|珠海|东莞|佛山|温州|嘉兴|香港|澳门|台北|"
    "东京|大阪|京都|首尔|新加坡|曼谷|河内|伦敦|巴黎|柏林|慕尼黑|罗马|马德里|莫斯科|纽约|旧金山|西雅图|洛杉矶|波士顿|芝加哥|多伦多|温哥华|悉尼|墨尔本|法兰克福|苏黎世|维也纳|阿姆斯特丹|赫尔辛基|迪拜"
)
_MEANT = lazy(r": (?:she|he|her|his|она|он|е[её]|ей|ему|него|у не)", re.IGNORECASE)

# Ordinary words that a sentence begins with in capitals.
_ORDINARY = """
i i'm i've i'd i'll we my our the a an this that it its it's is are was were he she they you your monday tuesday
wednesday thursday friday saturday sunday january february march april may june july august september october
november december today tomorrow yesterday please always never when if no yes not but and so also there here
what who how why where let's let don't do ok okay all every each some any in on at by for from with to of
actually remember note todo tonight now then his her their our mine use call answer keep я мы мой моя моё мои
наш наша у меня нас мне нам это он она они всегда никогда если когда не да нет также ещё завтра сегодня вчера
для на в по из понедельник вторник среда четверг пятница суббота воскресенье запомни напомни нужно надо все всё
так там тут вот и а но меня
"""
_NOT_NAMES = frozenset(_ORDINARY.split())


def entities_of(sentence: str, *, limit: int = 8) -> tuple[str, ...]:
    """Names and identifiers in the order of the sentence; an ordinary first word is none."""
    found = [(m.start(), next(filter(None, m.groups()))) for m in _IDENTIFIER.finditer(sentence)]
    found += [(m.start(), m[1].strip()) for m in _QUOTED.finditer(sentence)]
    found += [(m.start(), m[1] or _bare_cjk(m)) for m in _NAME_CJK.finditer(sentence)]
    if re.search(r"[\u4e00-\u9fff]", sentence):
        found += [(m.start(), m[0]) for m in _LATIN_IN_CJK.finditer(sentence)]
        found += [(m.start(), m[0]) for m in PLACE_CJK.finditer(sentence)]
        found += [(m.start(), _TITLED.split(m[0])[-1]) for m in _CALLED_CJK.finditer(_TITLED.sub(r" \g<0> ", sentence))]
    found += _names(sentence, _NAME_LATIN) + _names(sentence, _NAME_CYRILLIC)
    found += _subject(sentence)
    kept: dict[str, str] = {}
    for _, name in sorted(found):
        clean = name.strip(" .,:;!?'’\"")
        if len(clean) > 1 and "[redacted:" not in clean and not any(clean.lower() in known for known in kept):
            kept[clean.lower()] = clean
    return tuple(list(kept.values())[:limit])


def specifics(sentence: str, entities: tuple[str, ...]) -> int:
    """How concrete it is: names, identifiers and numbers, spelled out too, counted to 4."""
    numbers = len(_NUMBER.findall(re.sub(r"\d+", "1", sentence))) + len(_SPELLED.findall(sentence))
    return min(4, len(entities) + numbers)


def person_in(sentence: str) -> str:
    """Whom the sentence introduces by name or tells of; "" when that is nobody, or not clear."""
    called = _INTRODUCED.search(sentence) or _RELATIVE.search(sentence) or _KIN.match(sentence)
    if called:
        return str(next(filter(None, called.groups())))
    return next((name for _, name in _subject(sentence)), "")


def _subject(sentence: str) -> list[tuple[int, str]]:
    """A first word that does what people do is a name, though it stands where all words have capitals."""
    match = _SUBJECT_LATIN.match(sentence) or _SUBJECT_CYRILLIC.match(sentence)
    named = match and _bare(match[1].split()[0]) not in _NOT_NAMES | _NO_SUBJECTS
    return [(0, match[1])] if match and named else []


def _bare_cjk(match: re.Match[str]) -> str:
    return _PARTICLES.sub("", next(filter(None, match.groups())))


def _names(sentence: str, pattern: re.Pattern[str]) -> list[tuple[int, str]]:
    names = []
    for match in pattern.finditer(sentence):
        words = match[0].split()
        start = match.start()
        while words and (_bare(words[0]) in _NOT_NAMES or words[0].lower() in _NOT_NAMES):
            words = words[1:]
        meant = _MEANT.match(sentence, match.end())
        first_word = start == 0 and len(words) == len(match[0].split()) == 1 and not meant
        if first_word and _IS.match(sentence, match.end()):
            continue  # "pottery's a great way to relax"
        if words and not (first_word and not _distinct(words[0])):
            names.append((start, re.sub(r"['’]s$", "", " ".join(words))))
    return names


def _bare(word: str) -> str:
    return re.split("['’]", word.lower(), maxsplit=1)[0]


def _distinct(word: str) -> bool:
    """Whether a word at the start of a sentence is a name for another reason than its place."""
    return bool(re.search(r"[A-ZА-ЯЁ].*[A-ZА-ЯЁ0-9]|\d|['’]s$", word))
