"""Conversations of our own in three languages, and follow-up questions that only their order answers.

A story is what was said in one session. Its follow-ups: one asked at the start of the next window with nothing before it, one after a
message that names the subject, one that names the subject itself. `needed`: the pairs whose answers it takes, counted from 1.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A question. before: messages of the new window ahead of it, () = none."""

    text: str
    needed: tuple[int, ...]
    before: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Story:
    """One session in one language."""

    name: str
    language: str
    pairs: tuple[tuple[str, str], ...]
    asked: tuple[FollowUp, ...]


def _story(name: str, language: str, pairs: tuple[tuple[str, str], ...], *asked: FollowUp) -> Story:
    return Story(f"{name}-{language}", language, pairs, asked)


_ENGLISH = (
    _story("hotel", "en", (
        ("Which hotels in Lisbon would you take near the river?", "1. Hotel Santos, 120 euros. 2. Casa do Tejo, 95 euros with breakfast."),
        ("does the second one take dogs?", "Yes, up to 10 kg, for 15 euros a night."),
        ("and how far is it from the airport?", "Twenty minutes by metro, the red line."),
        ("good, book it for May please", "Booked from 3 to 7 May, reference LX-4471."),
    ), FollowUp("and what was the reference of that one?", (4,)), FollowUp("and the dog, what does that cost there?", (2,), ("Let us go on with the hotel in Lisbon.",)),
       FollowUp("About the Lisbon hotels near the river: what was the second one's price, and how far out is it?", (1, 3))),
    _story("vet", "en", (
        ("My cat Miso keeps scratching her ear, which vet around Alexanderplatz is good?", "Dr Haas on Torstrasse, or the clinic Mitte on Linienstrasse."),
        ("is the clinic open at night?", "Yes, around the clock; the emergency number is 030 5557 210."),
        ("they gave her drops, how often?", "Twice a day for ten days, three drops each time."),
        ("she is much better now, thank you!", "Wonderful. Finish the ten days all the same."),
    ), FollowUp("and how often was it again?", (3,)), FollowUp("and the number of the second one?", (2,), ("Miso scratches her ear again, we need that vet.",)),
       FollowUp("When Miso had her ear trouble, which vets were named and how long did the drops have to be taken?", (1, 3))),
    _story("deploy", "en", (
        ("The deployment of the billing service fails with a timeout, why?", "The health check waits for the cache, which starts after forty seconds."),
        ("so how do I fix that?", "Set startup_delay to 60 in deploy/billing.yaml, then run make release."),
        ("done, it works now", "Good. Version 2.14 is live."),
        ("and if it happens again at night?", "Roll back with make rollback TO=2.13; the on-call is Marta."),
    ), FollowUp("and who was on call there?", (4,)), FollowUp("which value did we set, and where?", (2,), ("The billing service times out again when it starts.",)),
       FollowUp("For the billing deployment, what was the cause and how is it rolled back?", (1, 4))),
    _story("gift", "en", (
        ("What could I give my grandmother for her eightieth birthday?", "A photo book, a day at the botanical garden, or a new radio."),
        ("the first one sounds nice, where is it printed?", "Saal prints one of 40 pages for 39 euros in four days."),
        ("how many pictures do I need?", "About ninety, two or three a page; scan the old ones at 600 dpi."),
        ("I love that, let's do it!", "Started. The deadline to be there in time is 12 September."),
    ), FollowUp("and the deadline, when was that?", (4,)), FollowUp("how long does it take to print, and what does it cost?", (2,), ("Grandmother's birthday is coming up.",)),
       FollowUp("For grandmother's eightieth, what else had been suggested, and how many pictures does it need?", (1, 3))),
    _story("visa", "en", (
        ("Which visa do I need for three months of work in Japan?", "The Specified Visa for designated activities; the working holiday one if you are under 31."),
        ("I am 29, what do they ask for?", "A bank balance of 2,500 euros, a return ticket, and a plan of the stay."),
        ("how long does it take?", "Five working days at the consulate in Frankfurt."),
        ("and do I have to go there in person?", "Yes, with the passport; appointments are on Tuesdays only."),
    ), FollowUp("and on which day was that?", (4,)), FollowUp("what papers and how much money do they want?", (2,), ("I will apply for that Japan visa now.",)),
       FollowUp("About working in Japan: which of the two visas fits me, and how many days does it take?", (1, 3))),
    _story("garden", "en", (
        ("The tomatoes on the balcony have brown spots on their leaves, what is that?", "Early blight, a fungus that likes wet leaves."),
        ("what can I spray?", "Copper hydroxide, 2 grams a litre, once a week, never in the sun."),
        ("can we still eat them?", "Yes, after a waiting time of seven days, washed well."),
        ("and next year?", "Another pot, fresh soil, and the variety Philovita, which resists it."),
    ), FollowUp("what was the variety called?", (4,)), FollowUp("how much of it per litre?", (2,), ("The tomatoes have those spots again.",)),
       FollowUp("The brown spots on the tomatoes: what was it, and how many days must I wait before eating them?", (1, 3))),
    _story("loan", "en", (
        ("Which bank offered us the best mortgage for the house?", "Sparkasse at 3.4 percent, DKB at 3.2 percent with a fee of 900 euros."),
        ("how long is the second one fixed?", "Fifteen years, then it follows the Euribor."),
        ("can we pay back earlier?", "Five percent of the sum a year without costs."),
        ("okay, we take it", "The appointment to sign is on 14 June at 10:30 with Ms Brandt."),
    ), FollowUp("and who was it with?", (4,)), FollowUp("how much can be paid back each year?", (3,), ("We look at the mortgage of the house again.",)),
       FollowUp("Of the mortgage offers for the house: which ones were there, and for how long is the chosen one fixed?", (1, 2))),
)  # fmt: skip

_CHINESE = (
    _story("hotel", "zh", (
        ("里斯本河边有什么酒店推荐？", "1. 桑托斯酒店，120欧元。2. 特茹之家，95欧元含早餐。"),
        ("第二个可以带狗吗？", "可以，10公斤以下，每晚15欧元。"),
        ("离机场多远？", "坐地铁红线二十分钟。"),
        ("好，就订这个，五月的", "订好了，5月3日到7日，编号LX-4471。"),
    ), FollowUp("那个编号是多少来着？", (4,)), FollowUp("那带狗要多少钱？", (2,), ("我们接着说里斯本的酒店。",)),
       FollowUp("里斯本河边的酒店，第二个多少钱，离得多远？", (1, 3))),
    _story("vet", "zh", (
        ("我家猫味噌一直抓耳朵，人民广场附近哪家宠物医院好？", "南京西路的哈医生，或者人民路的安心诊所。"),
        ("诊所晚上开门吗？", "开，二十四小时，急诊电话是5557 2100。"),
        ("他们开了滴耳液，一天几次？", "一天两次，每次三滴，连续十天。"),
        ("它好多了，谢谢！", "太好了，十天还是要用完。"),
    ), FollowUp("那是一天几次来着？", (3,)), FollowUp("第二家的电话呢？", (2,), ("味噌又抓耳朵了，要去那家宠物医院。",)),
       FollowUp("味噌耳朵不舒服的时候，说过哪几家医院，滴耳液要用几天？", (1, 3))),
    _story("deploy", "zh", (
        ("计费服务部署超时失败，为什么？", "健康检查在等缓存，缓存四十秒以后才启动。"),
        ("那怎么修？", "在deploy/billing.yaml里把startup_delay设成60，然后运行make release。"),
        ("搞定了，可以用了", "好的，2.14版上线了。"),
        ("如果半夜又出问题呢？", "用make rollback TO=2.13回滚，值班的是玛尔塔。"),
    ), FollowUp("那值班的是谁？", (4,)), FollowUp("那个值设成多少，在哪个文件？", (2,), ("计费服务启动又超时了。",)),
       FollowUp("计费服务部署的事，原因是什么，怎么回滚？", (1, 4))),
    _story("gift", "zh", (
        ("奶奶八十岁生日送什么好？", "相册、植物园一日游，或者一台新收音机。"),
        ("第一个不错，在哪里印？", "萨尔印刷，40页39欧元，四天印好。"),
        ("需要多少张照片？", "大概九十张，每页两三张，老照片用600dpi扫描。"),
        ("太棒了，就这么办！", "开始做了，要赶上的话9月12日截止。"),
    ), FollowUp("那截止是哪天？", (4,)), FollowUp("印要几天，多少钱？", (2,), ("奶奶的生日快到了。",)),
       FollowUp("奶奶八十岁生日，还说过送别的什么，一共要多少张照片？", (1, 3))),
    _story("visa", "zh", (
        ("去日本工作三个月要什么签证？", "特定活动签证；31岁以下可以办打工度假签证。"),
        ("我29岁，要什么材料？", "存款2500欧元、往返机票和停留计划。"),
        ("要多久？", "在法兰克福领事馆五个工作日。"),
        ("要本人去吗？", "要，带护照，只有星期二可以预约。"),
    ), FollowUp("那是星期几来着？", (4,)), FollowUp("要哪些材料，多少存款？", (2,), ("我现在要办日本的签证了。",)),
       FollowUp("去日本工作的签证，两种里面是哪两种，要几个工作日？", (1, 3))),
    _story("garden", "zh", (
        ("阳台的番茄叶子上有褐色斑点，是什么？", "早疫病，一种喜欢湿叶子的真菌。"),
        ("可以喷什么？", "氢氧化铜，每升2克，一周一次，不要在太阳下喷。"),
        ("还能吃吗？", "能，等七天，洗干净。"),
        ("那明年呢？", "换盆换土，种抗病的菲洛维塔品种。"),
    ), FollowUp("那个品种叫什么？", (4,)), FollowUp("每升放多少？", (2,), ("番茄又有那种斑点了。",)),
       FollowUp("番茄的褐色斑点是什么病，吃之前要等几天？", (1, 3))),
    _story("loan", "zh", (
        ("买房贷款哪家银行最好？", "储蓄银行3.4%，DKB银行3.2%，手续费900欧元。"),
        ("第二个利率固定多久？", "十五年，之后跟着Euribor走。"),
        ("可以提前还吗？", "每年可以免费还总额的百分之五。"),
        ("好，就选这个", "签约时间是6月14日10点30分，找布兰特女士。"),
    ), FollowUp("那是找谁来着？", (4,)), FollowUp("每年可以还多少？", (3,), ("我们再看看买房的贷款。",)),
       FollowUp("买房贷款的几个方案是哪些，选的那个固定多久？", (1, 2))),
)  # fmt: skip

_RUSSIAN = (
    _story("hotel", "ru", (
        ("Какие отели в Лиссабоне у реки посоветуешь?", "1. Hotel Santos, 120 евро. 2. Casa do Tejo, 95 евро с завтраком."),
        ("а во второй можно с собакой?", "Да, до 10 кг, 15 евро за ночь."),
        ("и далеко он от аэропорта?", "Двадцать минут на метро по красной линии."),
        ("хорошо, забронируй его на май", "Забронировано с 3 по 7 мая, номер LX-4471."),
    ), FollowUp("а какой там был номер?", (4,)), FollowUp("а за собаку сколько там?", (2,), ("Давай продолжим про отель в Лиссабоне.",)),
       FollowUp("Про отели в Лиссабоне у реки: сколько стоил второй и далеко ли он?", (1, 3))),
    _story("vet", "ru", (
        ("Кошка Мисо всё время чешет ухо, какой ветеринар у Чистых прудов хороший?", "Доктор Хаас на Мясницкой или клиника «Центр» на Покровке."),
        ("а клиника ночью работает?", "Да, круглосуточно, телефон неотложной помощи 555-72-10."),
        ("нам дали капли, сколько раз в день?", "Два раза в день по три капли, десять дней."),
        ("ей намного лучше, спасибо!", "Прекрасно. Но докапайте все десять дней."),
    ), FollowUp("а сколько раз надо было?", (3,)), FollowUp("а телефон второй?", (2,), ("Мисо опять чешет ухо, нужен тот ветеринар.",)),
       FollowUp("Когда у Мисо болело ухо, каких ветеринаров мы называли и сколько дней капать?", (1, 3))),
    _story("deploy", "ru", (
        ("Развёртывание сервиса биллинга падает по таймауту, почему?", "Проверка здоровья ждёт кэш, а он поднимается через сорок секунд."),
        ("и как это исправить?", "Поставь startup_delay: 60 в deploy/billing.yaml и запусти make release."),
        ("сделал, заработало", "Отлично. Версия 2.14 в работе."),
        ("а если ночью снова?", "Откат: make rollback TO=2.13, дежурит Марта."),
    ), FollowUp("а кто там дежурит?", (4,)), FollowUp("а какое значение и в каком файле?", (2,), ("Сервис биллинга опять не стартует по таймауту.",)),
       FollowUp("По развёртыванию биллинга: в чём была причина и как откатывать?", (1, 4))),
    _story("gift", "ru", (
        ("Что подарить бабушке на восьмидесятилетие?", "Фотокнигу, день в ботаническом саду или новое радио."),
        ("первое нравится, где её печатают?", "Saal печатает 40 страниц за 39 евро за четыре дня."),
        ("а сколько нужно фотографий?", "Около девяноста, по две-три на страницу; старые сканируй в 600 dpi."),
        ("обожаю эту идею, давай сделаем!", "Начала. Чтобы успеть, крайний срок 12 сентября."),
    ), FollowUp("а крайний срок какой?", (4,)), FollowUp("а за сколько дней печатают и почём?", (2,), ("Скоро день рождения бабушки.",)),
       FollowUp("К бабушкиному юбилею: что ещё предлагали и сколько фотографий нужно?", (1, 3))),
    _story("visa", "ru", (
        ("Какая виза нужна на три месяца работы в Японии?", "Виза для определённой деятельности; до 31 года можно «рабочие каникулы»."),
        ("мне 29, что просят?", "2500 евро на счёте, обратный билет и план пребывания."),
        ("сколько это занимает?", "Пять рабочих дней в консульстве во Франкфурте."),
        ("а надо ехать лично?", "Да, с паспортом; приём только по вторникам."),
    ), FollowUp("а по каким дням это?", (4,)), FollowUp("а какие бумаги и сколько денег просят?", (2,), ("Подаю на ту визу в Японию.",)),
       FollowUp("Про работу в Японии: какие были две визы и сколько рабочих дней это занимает?", (1, 3))),
    _story("garden", "ru", (
        ("У помидоров на балконе бурые пятна на листьях, что это?", "Альтернариоз, грибок, который любит мокрые листья."),
        ("чем опрыскать?", "Гидроксидом меди, 2 грамма на литр, раз в неделю и не на солнце."),
        ("а есть их можно?", "Да, через семь дней и хорошо вымыв."),
        ("а в следующем году?", "Другой горшок, свежая земля и устойчивый сорт Филовита."),
    ), FollowUp("а как назывался сорт?", (4,)), FollowUp("а сколько его на литр?", (2,), ("У помидоров опять те пятна.",)),
       FollowUp("Бурые пятна на помидорах: что это было и сколько дней ждать, прежде чем есть?", (1, 3))),
    _story("loan", "ru", (
        ("Какой банк дал лучшую ипотеку на дом?", "Сбер под 3,4 процента, DKB под 3,2 процента с комиссией 900 евро."),
        ("а у второго на сколько ставка?", "На пятнадцать лет, потом по Euribor."),
        ("можно гасить раньше?", "Пять процентов суммы в год без издержек."),
        ("хорошо, берём", "Подписание 14 июня в 10:30 у госпожи Брандт."),
    ), FollowUp("а у кого это?", (4,)), FollowUp("а сколько можно гасить в год?", (3,), ("Снова смотрим ипотеку на дом.",)),
       FollowUp("Из предложений по ипотеке на дом: какие были и на сколько лет ставка у выбранного?", (1, 2))),
)  # fmt: skip

STORIES = (*_ENGLISH, *_CHINESE, *_RUSSIAN)
