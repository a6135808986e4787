"""A small set of our own in three languages: the same gems, questions and unanswerable messages in English, Chinese, Russian.

`python -m benchmarks.recall.own OUT.json` writes it in the form of the data files: one collection per language of the
gems, each asked in all three languages, so that questions across languages and messages that nothing answers are measured.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

LANGUAGES = ("en", "zh", "ru")

GEMS: tuple[tuple[str, str, str], ...] = (
    ("The cat is called Miso and is allergic to chicken.", "猫叫味噌，对鸡肉过敏。", "Кошку зовут Мисо, у неё аллергия на курицу."),
    ("The flight to Tbilisi leaves on 14 May at 06:40.", "飞往第比利斯的航班5月14日6点40分起飞。", "Рейс в Тбилиси вылетает 14 мая в 06:40."),
    ("We decided to use Valkey instead of Redis for the queue.", "我们决定队列用Valkey而不是Redis。", "Мы решили использовать для очереди Valkey вместо Redis."),
    ("Always answer in short sentences without emoji.", "回答要简短，不要用表情符号。", "Всегда отвечай короткими предложениями без эмодзи."),
    ("The production database runs PostgreSQL 16 on port 5433.", "生产数据库是PostgreSQL 16，端口5433。", "Рабочая база данных — PostgreSQL 16 на порту 5433."),
    ("My daughter Lena starts school in September.", "我女儿莲娜九月上小学。", "Моя дочь Лена в сентябре идёт в школу."),
    ("The quarterly report is due on the last Friday of March.", "季度报告在三月最后一个星期五交。", "Квартальный отчёт нужно сдать в последнюю пятницу марта."),
    ("I am learning the violin and practise an hour every evening.", "我在学小提琴，每天晚上练一个小时。", "Я учусь играть на скрипке и занимаюсь час каждый вечер."),
    ("The staging server is restarted every night at three.", "测试服务器每天夜里三点重启。", "Тестовый сервер перезапускается каждую ночь в три часа."),
    ("Doctor Weber prescribed 20 mg of omeprazole before breakfast.", "韦伯医生开了奥美拉唑20毫克，早饭前吃。", "Доктор Вебер назначил 20 мг омепразола перед завтраком."),
    ("The invoice from the printing house was paid twice.", "印刷厂的发票付了两次。", "Счёт от типографии оплатили дважды."),
    ("We moved the office to the third floor because of the noise.", "因为太吵，我们把办公室搬到了三楼。", "Из-за шума мы перенесли офис на третий этаж."),
    ("Anton prefers pull requests under three hundred lines.", "安东喜欢三百行以内的合并请求。", "Антон предпочитает пул-реквесты меньше трёхсот строк."),
    ("The backup key is kept in the safe behind the bookshelf.", "备用钥匙放在书架后面的保险箱里。", "Запасной ключ лежит в сейфе за книжным шкафом."),
    ("The deployment failed because the certificate had expired.", "部署失败是因为证书过期了。", "Развёртывание не удалось, потому что истёк сертификат."),
    ("Grandmother's birthday is celebrated at the lake house.", "奶奶的生日在湖边的房子里过。", "День рождения бабушки отмечаем в доме у озера."),
    ("The car needs new winter tyres before November.", "十一月之前车要换新的冬季轮胎。", "До ноября машине нужны новые зимние шины."),
    ("I gave up coffee in January and drink green tea now.", "我一月戒了咖啡，现在喝绿茶。", "В январе я бросил кофе и теперь пью зелёный чай."),
    ("The trading account may lose at most two percent a day.", "交易账户一天最多亏百分之二。", "Торговый счёт может терять не больше двух процентов в день."),
    ("The new colleague Marta is responsible for the payments module.", "新同事玛尔塔负责支付模块。", "Новая коллега Марта отвечает за модуль платежей."),
    ("The thesis is about memory in language models.", "论文写的是语言模型的记忆。", "Диссертация посвящена памяти языковых моделей."),
    ("Rent goes up to 1,250 euros from July.", "房租七月起涨到1250欧元。", "С июля аренда поднимается до 1250 евро."),
    ("The logo must stay blue, the customer refused the red one.", "标志要保持蓝色，客户拒绝了红色的。", "Логотип должен остаться синим, от красного заказчик отказался."),
    ("On Sundays I run ten kilometres along the river.", "星期天我沿着河跑十公里。", "По воскресеньям я пробегаю десять километров вдоль реки."),
)  # fmt: skip

ASKED: tuple[tuple[int, tuple[str, str, str]], ...] = (
    (0, ("What is my cat's name?", "我的猫叫什么名字？", "Как зовут мою кошку?")),
    (0, ("Can I give the cat chicken?", "可以给猫吃鸡肉吗？", "Можно дать кошке курицу?")),
    (1, ("When do I fly to Tbilisi?", "我什么时候飞第比利斯？", "Когда я лечу в Тбилиси?")),
    (2, ("Which software did we choose for the queue?", "队列我们选了什么软件？", "Что мы выбрали для очереди?")),
    (4, ("On which port does the production database listen?", "生产数据库用哪个端口？", "На каком порту работает рабочая база данных?")),
    (5, ("When does my daughter start school?", "我女儿什么时候上学？", "Когда дочь идёт в школу?")),
    (6, ("What is the deadline of the quarterly report?", "季度报告什么时候交？", "Когда сдавать квартальный отчёт?")),
    (7, ("Which instrument am I learning?", "我在学什么乐器？", "На каком инструменте я учусь играть?")),
    (8, ("At what time is the staging server restarted?", "测试服务器几点重启？", "Во сколько перезапускается тестовый сервер?")),
    (9, ("Which medicine did the doctor prescribe?", "医生开了什么药？", "Какое лекарство назначил доктор?")),
    (10, ("Was there a problem with the printing house's invoice?", "印刷厂的发票有什么问题？", "Что случилось со счётом от типографии?")),
    (11, ("Why did we move the office?", "我们为什么搬办公室？", "Почему мы перенесли офис?")),
    (12, ("How long may a pull request for Anton be?", "安东喜欢多长的合并请求？", "Какого размера пул-реквесты любит Антон?")),
    (13, ("Where is the backup key?", "备用钥匙在哪里？", "Где лежит запасной ключ?")),
    (14, ("Why did the deployment fail?", "部署为什么失败了？", "Почему не удалось развёртывание?")),
    (15, ("Where do we celebrate grandmother's birthday?", "奶奶的生日在哪里过？", "Где отмечаем день рождения бабушки?")),
    (16, ("What does the car need before winter?", "冬天之前车需要换什么？", "Что нужно машине до зимы?")),
    (17, ("What do I drink instead of coffee?", "我现在不喝咖啡喝什么？", "Что я пью вместо кофе?")),
    (18, ("What is the daily loss limit of the trading account?", "交易账户每天的亏损上限是多少？", "Какой дневной предел убытков у торгового счёта?")),
    (19, ("Who is responsible for payments?", "谁负责支付？", "Кто отвечает за платежи?")),
    (20, ("What is my thesis about?", "我的论文写的是什么？", "О чём моя диссертация?")),
    (21, ("How much will the rent be from July?", "七月起房租多少？", "Сколько будет аренда с июля?")),
    (22, ("Which colour did the customer refuse for the logo?", "客户拒绝了标志的什么颜色？", "От какого цвета логотипа отказался заказчик?")),
    (23, ("How far do I run on Sundays?", "我星期天跑多远？", "Сколько я бегаю по воскресеньям?")),
)  # fmt: skip

UNANSWERED: tuple[tuple[str, str, str], ...] = (
    ("What is the capital of Australia?", "澳大利亚的首都是哪里？", "Какая столица у Австралии?"),
    ("Write a haiku about the sea.", "写一首关于大海的俳句。", "Напиши хайку о море."),
    ("How many planets does the solar system have?", "太阳系有几颗行星？", "Сколько планет в Солнечной системе?"),
    ("Translate 'good morning' into French.", "把早上好翻译成法语。", "Переведи «доброе утро» на французский."),
    ("What is my brother's phone number?", "我哥哥的电话号码是多少？", "Какой номер телефона у моего брата?"),
    ("Which hotel did we book in Lisbon?", "我们在里斯本订了哪家酒店？", "Какой отель мы забронировали в Лиссабоне?"),
    ("Explain how photosynthesis works.", "解释一下光合作用。", "Объясни, как работает фотосинтез."),
    ("Thanks, that was helpful!", "谢谢，很有帮助！", "Спасибо, это помогло!"),
    ("Sort this list of numbers: 3, 1, 2.", "把这些数字排序：3、1、2。", "Отсортируй числа: 3, 1, 2."),
    ("What is my dog called?", "我的狗叫什么？", "Как зовут мою собаку?"),
    ("Which colour is my bicycle?", "我的自行车是什么颜色？", "Какого цвета мой велосипед?"),
    ("What did Igor say about the budget?", "伊戈尔对预算说了什么？", "Что Игорь сказал о бюджете?"),
    ("Is it going to rain tomorrow?", "明天会下雨吗？", "Завтра будет дождь?"),
    ("Fix the indentation of this Python function.", "修正这个Python函数的缩进。", "Исправь отступы в этой функции на Python."),
    ("Ok, go on.", "好的，继续。", "Хорошо, продолжай."),
    ("When is my dentist appointment?", "我什么时候看牙医？", "Когда у меня приём у стоматолога?"),
    ("How do I boil an egg?", "怎么煮鸡蛋？", "Как сварить яйцо?"),
    ("What is the password of the guest wifi?", "访客无线网的密码是什么？", "Какой пароль у гостевого вайфая?"),
    ("Recommend a good novel.", "推荐一本好小说。", "Посоветуй хороший роман."),
    ("What is two to the power of ten?", "二的十次方是多少？", "Сколько будет два в десятой степени?"),
)  # fmt: skip


def dataset() -> dict[str, Any]:
    """All of it in the form of the data files."""
    return {
        "dataset": "own",
        "licence": "MIT",
        "origin": "written for this benchmark",
        "collections": [_collection(place, language) for place, language in enumerate(LANGUAGES)],
    }


def _collection(place: int, language: str) -> dict[str, Any]:
    return {
        "id": f"own-{language}",
        "language": language,
        "documents": [
            {
                "id": f"g{n}",
                "session": f"s{n // 4}",
                "order": n,
                "time": f"2026-0{1 + n // 4}-1{n % 4}",
                "text": gem[place],
            }
            for n, gem in enumerate(GEMS)
        ],
        "facts": [],
        "questions": [
            *(
                _question(f"q{n}-{asked}", texts[at], at == place, relevant=[f"g{gem}"])
                for n, (gem, texts) in enumerate(ASKED)
                for at, asked in enumerate(LANGUAGES)
            ),
            *(
                _question(f"u{n}-{asked}", texts[at], at == place, relevant=[])
                for n, texts in enumerate(UNANSWERED)
                for at, asked in enumerate(LANGUAGES)
            ),
        ],
    }


def _question(id_: str, text: str, same: bool, *, relevant: list[str]) -> dict[str, Any]:  # noqa: FBT001
    kind = "same language" if same else "across languages"
    return {"id": id_, "text": text, "type": kind, "answerable": bool(relevant), "relevant": relevant}


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(dataset(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
