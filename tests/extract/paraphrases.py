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
    ("We are not moving the office to Graz", "The company moves the office to Graz."),
    ("My wife Dana can't stand fish", "The owner's wife Dana loves fish."),
    ("Мы не перевозим офис в Казань", "Компания перевозит офис в Казань."),
    ("公司不搬到成都", "公司搬到成都。"),
    ("I get up at six because the kids have school", "The owner gets up at 7 because the kids have school."),
    ("We're moving the office to Graz next June", "The company will relocate its office to Linz in June."),
    ("I talked to Emil about the boat", "Emil bought a boat and a house by the lake."),
    ("Мы перевозим офис в Казань в июне", "Компания перевозит офис в Самару в июне."),
]
