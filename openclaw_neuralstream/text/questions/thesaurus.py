"""What a sentence is about: a small thesaurus in three languages, so that one topic has one name."""

from __future__ import annotations

import re

from openclaw_neuralstream.patterns import lazy

_TOPICS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, lazy(pattern, re.IGNORECASE))
    for name, pattern in (
        (
            "food",
            (
                r"\b(?:eat|food|cook|recipe|vegetarian|vegan|coffee|tea|dinner|lunch|breakfast|restaurant|allerg\w+|diet|drink|beer|wine|meat|sushi|pizza)|"
                r"\b(?:еда|ем|ест|готов\w+ (?:еду|ужин)|вегетариан|веган|кофе|чай|ужин|обед|завтрак|ресторан|аллерги|диет|пью|мясо|рецепт)|吃|喝|饭|菜|咖啡|茶|素食|过敏|餐|酒|肉|火锅|辣"
            ),
        ),
        (
            "health",
            (
                r"\b(?:doctor|dentist|hospital|allerg\w+|medic\w+|pill|surgery|sick|illness|blood|diabet\w+|asthma|therap\w+|insulin|vaccin\w+|injur\w+)|"
                r"\b(?:врач|стоматолог|больниц|аллерги|лекарств|таблет|операци|боле[юе]|диабет|астм|терап|прививк|травм)|医生|医院|牙医|过敏|药|手术|生病|糖尿病|哮喘|体检|血"
            ),
        ),
        (
            "family",
            (
                r"\b(?:wife|husband|son|daughter|kids?|child(?:ren)?|mother|father|mom|dad|parents?|brother|sister|grand\w+|partner|fianc\w+|married|wedding|girlfriend|boyfriend|uncle|aunt|cousin)\b|"
                r"\b(?:жен[аыуе]|муж|сын|доч|дети|реб[её]н|мам[аыуе]|пап[аыуе]|родител|брат|сестр|бабушк|дедушк|невест|жених|свадьб|девушк)|老婆|妻子|丈夫|老公|儿子|女儿|孩子|妈妈|爸爸|父母|母亲|父亲|哥哥|弟弟|姐姐|妹妹|奶奶|爷爷|结婚|婚礼|女朋友|男朋友"
            ),
        ),
        (
            "pets",
            r"\b(?:dog|cat|puppy|kitten|pet|parrot|hamster|rabbit|horse|aquarium)s?\b|\b(?:собак|кошк|кот[аеу]?\b|щенк|питом|попуга|хомяк|кролик)|狗|猫|宠物|兔子|鹦鹉|仓鼠",
        ),
        (
            "work",
            (
                r"\b(?:job|work(?:s|ing)?|office|boss|manager|colleague|company|salary|career|interview|employ\w+|team|client|customer|startup)\b|"
                r"\b(?:работа|офис|начальник|руководител|коллег|компани|зарплат|карьер|собеседован|команд|клиент|заказчик|стартап)|工作|公司|老板|同事|工资|职业|面试|团队|客户|经理|上班|入职"
            ),
        ),
        (
            "travel",
            (
                r"\b(?:flight|fly|trip|travel\w*|hotel|airport|visa|passport|vacation|holiday|train|ticket)s?\b|"
                r"\b(?:рейс|лечу|поездк|путешеств|отел|гостиниц|аэропорт|виз[аыу]|паспорт|отпуск|поезд|билет)|航班|飞机|旅行|旅游|酒店|机场|签证|护照|假期|火车|高铁|机票|出差"
            ),
        ),
        (
            "home",
            (
                r"\b(?:house|apartment|flat|rent|mortgage|move[ds]? to|live[sd]? in|address|kitchen|garden|neighbou?r|landlord)\b|"
                r"\b(?:дом|квартир|аренд|ипотек|переех|переезж|живу|жив[её]м|адрес|кухн|сад|сосед)|房子|公寓|租|房贷|搬|住在|地址|厨房|花园|邻居|家在"
            ),
        ),
        (
            "money",
            (
                r"\b(?:budget|price|cost|pay|paid|salary|invoice|bank|loan|tax\w*|invest\w+|expense|dollar|euro|usd|eur)s?\b|[$€£¥₽]\s?\d|\d\s?[$€£¥₽]|"
                r"\b(?:бюджет|цен[аыу]|стои[тм]|оплат|зарплат|сч[её]т|банк|кредит|налог|инвест|расход|рубл|доллар|евро)|预算|价格|费用|付款|工资|发票|银行|贷款|税|投资|开销|元|美元|块钱"
            ),
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
            (
                r"\b(?:code|coding|python|javascript|typescript|rust|golang|java|function|api|bug|test|library|framework|repository|repo|git|branch|commit|refactor\w*|compile\w*|lint\w*|type hints?|react|django|fastapi)s?\b|`|"
                r"\b(?:код|функци|баг|тест|библиотек|фреймворк|репозитор|ветк|коммит|рефактор|питон)|代码|编程|函数|接口|测试|框架|仓库|分支|提交|重构|前端|后端"
            ),
        ),
        (
            "communication",
            r"\b(?:answer|reply|replies|respond|email|message|call me|tone|language|concise|verbose|emoji|english|russian|chinese)s?\b|\b(?:отвеча|ответ|письм|сообщени|называй|обращайся|тон|кратк|эмодзи|по-русски|английск)|回答|回复|邮件|消息|叫我|语气|简洁|表情|中文|英文|英语",
        ),
    )
)


def topics_of(sentence: str, *, limit: int = 4) -> tuple[str, ...]:
    """What it is about, in English words whatever the language."""
    return tuple(name for name, pattern in _TOPICS if pattern.search(sentence))[:limit]
