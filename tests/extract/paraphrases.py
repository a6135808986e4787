"""What was said, and what a model may make of it: the same in other words, and what is not the same at all."""

from __future__ import annotations

TRUE = [
    ("I get up at six because the kids have school", "The owner wakes up at 6 because the children have school."),
    ("My wife Dana can't stand the smell of fish", "The owner's wife Dana dislikes the odour of fish."),
    ("We're moving the office to Graz next June", "The company will relocate its office to Graz in June."),
    ("I gave up cigarettes in January", "The owner quit smoking cigarettes in January."),
    (
        "The boiler at our cabin broke down again, a new one costs 2400",
        "The heating boiler of the owner's cabin failed; replacing it costs 2400.",
    ),
    (
        "Our son Emil starts kindergarten on 1 September",
        "Emil, the owner's son, will begin kindergarten on 1 September.",
    ),
    ("Жена Дана терпеть не может запах рыбы", "Жена владельца, Дана, не выносит рыбный запах."),
    ("Встаю в шесть, потому что детям в школу", "Владелец просыпается в 6, так как дети идут в школу."),
    ("Мы перевозим офис в Казань в июне", "Офис компании переезжает в Казань в июне."),
    ("Курить бросил в январе", "Владелец перестал курить в январе."),
    ("Наш сын Емельян с 1 сентября идёт в садик", "Емельян, сын владельца, пойдёт в садик с 1 сентября."),
    ("我老婆丹丹受不了鱼腥味", "用户的老婆丹丹讨厌鱼腥味。"),
    ("公司六月要把办公室搬到成都", "公司将于六月把办公室迁到成都。"),
    ("我一月份就把烟戒了", "用户一月份戒烟了。"),
    ("我家儿子小满9月1日上幼儿园", "用户的儿子小满9月1日开始上幼儿园。"),
]
FALSE = [
    ("My brother plays the cello and I play chess", "The owner plays the cello."),
    ("Anna owes Boris 50 euros", "Boris owes Anna 50 euros."),
    ("I am allergic to nuts, my sister is not", "The owner's sister is allergic to nuts."),
    ("I get up at six because the kids have school", "The owner gets up at 7 because the kids have school."),
    ("We're moving the office to Graz next June", "The company will relocate its office to Linz in June."),
    ("We are not moving the office to Graz", "The company moves the office to Graz."),
    ("My wife Dana can't stand fish", "The owner's wife Dana loves fish."),
    ("I talked to Emil about the boat", "Emil bought a boat and a house by the lake."),
    ("Мой брат играет на виолончели, а я в шахматы", "Владелец играет на виолончели."),
    ("Анна должна Борису 50 евро", "Борис должен Анне 50 евро."),
    ("У меня аллергия на орехи, у сестры нет", "У сестры владельца аллергия на орехи."),
    ("Мы не перевозим офис в Казань", "Компания перевозит офис в Казань."),
    ("Мы перевозим офис в Казань в июне", "Компания перевозит офис в Самару в июне."),
    ("我哥哥拉大提琴，我下棋", "用户拉大提琴。"),
    ("小王欠小李50块钱", "小李欠小王50块钱。"),
    ("我对坚果过敏，我妹妹不过敏", "用户的妹妹对坚果过敏。"),
    ("公司不搬到成都", "公司搬到成都。"),
    ("公司六月要把办公室搬到成都", "公司六月要把办公室搬到重庆。"),
]
