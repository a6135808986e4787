"""Names in a sentence, and what it is about: entities by form, topics by a small thesaurus in three languages."""

from __future__ import annotations

import re

_IDENTIFIER = re.compile(
    r"`([^`\n]{2,80})`|(?<![\w/])((?:~|\.{1,2})?/[\w.\-]+(?:/[\w.\-]+)+)|\b(https?://[^\s<>\"')\]，。]+)|\b([a-z]+(?:_[a-z0-9]+)+)\b|"
    r"\b([a-z]+[A-Z]\w+|[A-Z][a-z]+[A-Z]\w*)\b|\b([\w\-]+\.(?:py|js|ts|rs|go|md|json|ya?ml|toml|sh|sql|txt|cfg|ini|com|org|io|net|dev|ru|cn))\b|"
    r"\b(\d{1,3}(?:\.\d{1,3}){3}(?::\d{2,5})?)\b|\b([\w.+\-]+@[\w\-]+\.[\w.]+)\b"
)
_NAME_LATIN = re.compile(r"\b[A-Z][\w'’&+#\-]*(?:\s+(?:of|de|van|von|the|and|&)?\s*[A-Z0-9][\w'’&+#.\-]*)*")
_NAME_CYRILLIC = re.compile(r"\b[А-ЯЁ][а-яёА-ЯЁ\-]+(?:\s+[А-ЯЁ][а-яёА-ЯЁ\-]+)*")
_NAME_CJK = re.compile(
    r"[《「『“\"]([^》」』”\"]{1,30})[》」』”\"]|(?:叫做?|名叫|名字是|姓名是|称呼我(?:为)?|叫我)\s*([\u4e00-\u9fff·]{1,6}?)(?=[,，。.!！；;、\s]|$|的|是|在|和)|"
    r"([\u4e00-\u9fff]{2,6}(?:公司|大学|医院|集团|银行|项目|中学|小学|机场|车站|路|省|市|区|县))|"
    r"(?:住在|在|去|到|来自|搬到|飞)([\u4e00-\u9fff]{2,3}?)(?=[,，。.!！；;、\s]|$|工作|上班|上学|生活|住|出差|旅行|旅游|读书|的)"
)
_LATIN_IN_CJK = re.compile(r"[A-Za-z][\w.+#\-]{1,}(?:\s[A-Z0-9][\w.+#\-]*)*")
_QUOTED = re.compile(r"[\"“«]([^\"”»\n]{2,60})[\"”»]")
_NUMBER = re.compile(r"\d")

_NOT_NAMES = frozenset(
    "i i'm i've i'd i'll we my our the a an this that it its it's is are was were he she they you your monday tuesday wednesday thursday friday "
    "saturday sunday january february march april may june july august september october november december today tomorrow yesterday please always never "
    "when if no yes not but and so also there here what who how why where let's let don't do ok okay all every each some any in on at by for from with to of "
    "actually remember note todo tonight now then his her their our mine use call answer keep".split()
)
_NOT_NAMES_RU = frozenset(
    "я мы мой моя моё мои наш наша у меня нас мне нам это он она они всегда никогда если когда не да нет также ещё завтра сегодня вчера для на в по из "
    "понедельник вторник среда четверг пятница суббота воскресенье запомни напомни нужно надо все всё так там тут вот и а но меня".split()
)

_TOPICS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        (
            "food",
            r"\b(?:eat|food|cook|recipe|vegetarian|vegan|coffee|tea|dinner|lunch|breakfast|restaurant|allerg\w+|diet|drink|beer|wine|meat|sushi|pizza)|"
            r"\b(?:еда|ем|ест|готов\w+ (?:еду|ужин)|вегетариан|веган|кофе|чай|ужин|обед|завтрак|ресторан|аллерги|диет|пью|мясо|рецепт)|吃|喝|饭|菜|咖啡|茶|素食|过敏|餐|酒|肉|火锅|辣",
        ),
        (
            "health",
            r"\b(?:doctor|dentist|hospital|allerg\w+|medic\w+|pill|surgery|sick|illness|blood|diabet\w+|asthma|therap\w+|insulin|vaccin\w+|injur\w+)|"
            r"\b(?:врач|стоматолог|больниц|аллерги|лекарств|таблет|операци|боле[юе]|диабет|астм|терап|прививк|травм)|医生|医院|牙医|过敏|药|手术|生病|糖尿病|哮喘|体检|血",
        ),
        (
            "family",
            r"\b(?:wife|husband|son|daughter|kids?|child(?:ren)?|mother|father|mom|dad|parents?|brother|sister|grand\w+|partner|fianc\w+|married|wedding|girlfriend|boyfriend|uncle|aunt|cousin)\b|"
            r"\b(?:жен[аыуе]|муж|сын|доч|дети|реб[её]н|мам[аыуе]|пап[аыуе]|родител|брат|сестр|бабушк|дедушк|невест|жених|свадьб|девушк)|老婆|妻子|丈夫|老公|儿子|女儿|孩子|妈妈|爸爸|父母|母亲|父亲|哥哥|弟弟|姐姐|妹妹|奶奶|爷爷|结婚|婚礼|女朋友|男朋友",
        ),
        (
            "pets",
            r"\b(?:dog|cat|puppy|kitten|pet|parrot|hamster|rabbit|horse|aquarium)s?\b|\b(?:собак|кошк|кот[аеу]?\b|щенк|питом|попуга|хомяк|кролик)|狗|猫|宠物|兔子|鹦鹉|仓鼠",
        ),
        (
            "work",
            r"\b(?:job|work(?:s|ing)?|office|boss|manager|colleague|company|salary|career|interview|employ\w+|team|client|customer|startup)\b|"
            r"\b(?:работа|офис|начальник|руководител|коллег|компани|зарплат|карьер|собеседован|команд|клиент|заказчик|стартап)|工作|公司|老板|同事|工资|职业|面试|团队|客户|经理|上班|入职",
        ),
        (
            "travel",
            r"\b(?:flight|fly|trip|travel\w*|hotel|airport|visa|passport|vacation|holiday|train|ticket)s?\b|"
            r"\b(?:рейс|лечу|поездк|путешеств|отел|гостиниц|аэропорт|виз[аыу]|паспорт|отпуск|поезд|билет)|航班|飞机|旅行|旅游|酒店|机场|签证|护照|假期|火车|高铁|机票|出差",
        ),
        (
            "home",
            r"\b(?:house|apartment|flat|rent|mortgage|move[ds]? to|live[sd]? in|address|kitchen|garden|neighbou?r|landlord)\b|"
            r"\b(?:дом|квартир|аренд|ипотек|переех|переезж|живу|жив[её]м|адрес|кухн|сад|сосед)|房子|公寓|租|房贷|搬|住在|地址|厨房|花园|邻居|家在",
        ),
        (
            "money",
            r"\b(?:budget|price|cost|pay|paid|salary|invoice|bank|loan|tax\w*|invest\w+|expense|dollar|euro|usd|eur)s?\b|[$€£¥₽]\s?\d|\d\s?[$€£¥₽]|"
            r"\b(?:бюджет|цен[аыу]|стои[тм]|оплат|зарплат|сч[её]т|банк|кредит|налог|инвест|расход|рубл|доллар|евро)|预算|价格|费用|付款|工资|发票|银行|贷款|税|投资|开销|元|美元|块钱",
        ),
        (
            "schedule",
            r"\b(?:meeting|appointment|deadline|calendar|schedule\w*|standup|due|reminder|remind)s?\b|\b(?:встреч|созвон|дедлайн|календар|расписан|срок|напомин|напомни|при[её]м)|会议|开会|截止|日程|日历|提醒|约|安排|例会",
        ),
        (
            "learning",
            r"\b(?:learn\w*|study\w*|course|exam|university|college|school|degree|teacher|lesson|language)s?\b|\b(?:уч(?:у|усь|ит|ит[ь]?ся)|курс|экзамен|университет|институт|школ|диплом|учител|урок|язык)|学习|课程|考试|大学|学校|学位|老师|语言|专业|毕业",
        ),
        (
            "sport",
            r"\b(?:run(?:ning)?|gym|marathon|football|soccer|tennis|swim\w*|yoga|bike|cycling|hik\w+|climb\w*|ski\w*|workout|chess)\b|\b(?:бег|спортзал|марафон|футбол|теннис|плава|йог|велосипед|поход|лыж|трениров|шахмат)|跑步|健身|马拉松|足球|网球|游泳|瑜伽|骑行|登山|滑雪|篮球|羽毛球|象棋",
        ),
        (
            "music",
            r"\b(?:music|guitar|piano|song|band|concert|album|violin|drum)s?\b|\b(?:музык|гитар|пианино|фортепиано|песн|групп[аыу]|концерт|альбом|скрипк)|音乐|吉他|钢琴|歌|乐队|演唱会|专辑|小提琴",
        ),
        (
            "reading",
            r"\b(?:book|novel|author|read(?:ing)?|movie|film|series|game)s?\b|\b(?:книг|роман|автор|чита|фильм|сериал|игр[аыу])|书|小说|作者|阅读|电影|电视剧|游戏",
        ),
        (
            "database",
            r"\b(?:database|postgres\w*|mysql|sqlite|redis|mongo\w*|qdrant|sql|schema|migration|index)(?:es|s)?\b|\b(?:баз[аыуе] данных|бд|схем[аыу]|миграци)|数据库|表结构|索引|迁移",
        ),
        (
            "deployment",
            r"\b(?:deploy\w*|server|docker|kubernetes|k8s|production|staging|release|ci|cd|aws|hosting|nginx|pipeline|rollback)s?\b|\b(?:депло\w+|сервер|докер|кубернет|прод[ае]?\b|стейдж|релиз|хостинг|выкатк)|部署|服务器|上线|生产环境|发布|测试环境|容器|回滚",
        ),
        (
            "code",
            r"\b(?:code|coding|python|javascript|typescript|rust|golang|java|function|api|bug|test|library|framework|repository|repo|git|branch|commit|refactor\w*|compile\w*|lint\w*|type hints?|react|django|fastapi)s?\b|`|"
            r"\b(?:код|функци|баг|тест|библиотек|фреймворк|репозитор|ветк|коммит|рефактор|питон)|代码|编程|函数|接口|测试|框架|仓库|分支|提交|重构|前端|后端",
        ),
        (
            "communication",
            r"\b(?:answer|reply|replies|respond|email|message|call me|tone|language|concise|verbose|emoji|english|russian|chinese)s?\b|\b(?:отвеча|ответ|письм|сообщени|называй|обращайся|тон|кратк|эмодзи|по-русски|английск)|回答|回复|邮件|消息|叫我|语气|简洁|表情|中文|英文|英语",
        ),
    )
)


def entities_of(sentence: str, *, limit: int = 8) -> tuple[str, ...]:
    """Names and identifiers in the order of the sentence; an ordinary first word is none."""
    found: list[tuple[int, str]] = []
    for match in _IDENTIFIER.finditer(sentence):
        found.append((match.start(), next(group for group in match.groups() if group)))
    found += [(m.start(), m[1].strip()) for m in _QUOTED.finditer(sentence)]
    for match in _NAME_CJK.finditer(sentence):
        found.append((match.start(), next(group for group in match.groups() if group)))
    if re.search(r"[\u4e00-\u9fff]", sentence):
        found += [(m.start(), m[0]) for m in _LATIN_IN_CJK.finditer(sentence)]
    found += _names(sentence, _NAME_LATIN, _NOT_NAMES) + _names(sentence, _NAME_CYRILLIC, _NOT_NAMES_RU)
    kept: dict[str, str] = {}
    for _, name in sorted(found):
        clean = name.strip(" .,:;!?'’\"")
        if len(clean) > 1 and "[redacted:" not in clean and not any(clean.lower() in known for known in kept):
            kept[clean.lower()] = clean
    return tuple(list(kept.values())[:limit])


def topics_of(sentence: str, *, limit: int = 4) -> tuple[str, ...]:
    """What it is about, in English words whatever the language, so that one topic has one name."""
    return tuple(name for name, pattern in _TOPICS if pattern.search(sentence))[:limit]


def specifics(sentence: str, entities: tuple[str, ...]) -> int:
    """How concrete it is: names, identifiers and numbers, counted to 4."""
    return min(4, len(entities) + len(_NUMBER.findall(re.sub(r"\d+", "1", sentence))))


def _names(sentence: str, pattern: re.Pattern[str], ordinary: frozenset[str]) -> list[tuple[int, str]]:
    names = []
    for match in pattern.finditer(sentence):
        words = match[0].split()
        start = match.start()
        while words and (words[0].lower() in ordinary or words[0].lower().split("'")[0].split("’")[0] in ordinary):
            words = words[1:]
        first_word = start == 0 and len(words) == len(match[0].split()) == 1
        if words and not (first_word and not _distinct(words[0])):
            names.append((start, re.sub(r"['’]s$", "", " ".join(words))))
    return names


def _distinct(word: str) -> bool:
    """Whether a word at the start of a sentence is a name for another reason than its place."""
    return bool(re.search(r"[A-ZА-ЯЁ].*[A-ZА-ЯЁ0-9]|\d|['’]s$", word))
