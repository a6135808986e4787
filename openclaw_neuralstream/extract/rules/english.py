"""How English says it."""

from __future__ import annotations

from openclaw_neuralstream.extract.rules.cues import Cues, cue

_I = r"\b(?:i|we)(?:'ve|'m|'re|'d|'ll)?\b"
_MY = r"\b(?:my|our)\b"
_VERBS = (
    r"write|create|make|generate|give|show|tell|list|find|search|look|check|run|fix|add|remove|open|read|send|explain|summari[sz]e|translate|help|draft|"
    r"compare|calculate|convert|implement|refactor|debug|test|deploy|build|install|update|rename|delete|print|review|analy[sz]e|describe|suggest|recommend|"
    r"plan|book|order|set|start(?! (?:is|at|time|date|was)\b)|stop(?! \w+ing)|try|continue|go|do|let me know|consider|think|proofread|rewrite|format|count|sort|fetch|download|upload|extract|"
    r"define|solve|prove|draw|paint|design|schedule|call(?! me)|email|play|put|pick|choose|provide|divert|combine|elaborate|include|assume|act as|discuss|outline|identify|evaluate|prepare|develop|produce|rank|organi[sz]e|highlight|focus|enhance|optimi[sz]e|modify|adjust|replace|reformat|classify|categori[sz]e|predict|estimate|simulate|visuali[sz]e|research|investigate|teach|guide|quiz|brainstorm|propose|illustrate|demonstrate|insert|append|split|paraphrase|apply|ensure|turn|change|move|copy|paste|save|undo|redo|repeat|wait|hold on|"
    r"see|have a look|take|get|bring|click|restart|push|pull|merge|commit|revert|clean|improve|simplify|shorten|expand|finish|complete|come|clear"
)

ENGLISH = Cues(
    question=cue(
        r"\?\s*[\"')\]]*$",
        r"^(?:and |but |so |ok(?:ay)?,? )?(?:what|who|whom|whose|when|where|why|how|which)\b(?!.*\b(?:i|we) (?:always|never|prefer)\b)(?!ever)(?! (?:i|we) .*,)(?! you (?:recommend|suggest|propose|answer|reply|respond|write|plan|schedule|explain|translate|book|draft) .*,)",
        r"^(?:is|are|am|was|were|do|does|did|can|could|would|will|should|shall|may|might|have|has|had|isn't|aren't|don't|doesn't|didn't|can't|won't)"
        r" (?:i|you|we|he|she|it|they|there|this|that|these|those|the|my|your|our|any|anyone|someone)\b",
        r"\b(?:what'?s (?:up|wrong|that|going on)|what gives|how come|any idea)[.!]*$",
        r"^any (?:idea|chance|thoughts|suggestions|news|updates?)\b",
        r"\bi(?:'m| am|'ve been| have been| was)? ?(?:just )?(?:wondering|curious|asking|wonder)\b",
    ),
    chatter=cue(
        r"\b(?:sounds?|looks?|seems?) (?:so |really |very |absolutely |like a )?(?:amazing|great|good|delicious|interesting|fun|helpful|fascinating|nice|perfect|awesome|cool|wonderful|beautiful|lovely|plan)\b",
        r"\b(?:like|prefer|love|hate|want|choose|take) (?:the )?(?:first|second|third|last|other|new|old|this|that) (?:option|one|version|variant|idea|draft|design|suggestion|answer)s?\b",
        r"^(?:hi+|hello|hey+|yo|greetings|good (?:morning|afternoon|evening|night|day)|howdy|welcome|bye|goodbye|see (?:you|ya)|cheers|later)\b[\w ,']{0,25}$",
        r"^(?:thanks?|thank you|thx|tysm|ty|np|lol|lmao|brb|omw|gtg|kk|yess*|yay|much appreciated|appreciate it|great|good|nice|cool|awesome|perfect|excellent|amazing|wonderful|fantastic|lovely|sweet|brilliant|"
        r"ok(?:ay)?|k|sure|yes|yeah|yep|yup|no|nope|nah|right|correct|exactly|indeed|agreed|true|fine|alright|understood|got it|gotcha|i see|makes sense|sounds good|will do|"
        r"well done|good job|no problem|no worries|never mind|sorry|oops|wow|haha+|lol|hmm+|oh|ah|please|same|done|go (?:ahead|on)|that works|works for me|good to know|"
        r"you're welcome|you too|i agree|i understand|i know|of course|absolutely|definitely|for sure|not really|maybe|idk|i don't know|not sure|i'm not sure)"
        r"(?:[\s,.!]+(?:so much|very much|a lot|again|man|mate|buddy|dude|then|all|everyone|that|it|this|for (?:the|your|that|this|all|everything)\b.*|thanks?|thank you|"
        r"great|good|nice|cool|ok|yes|i see|got it|perfect|let's do (?:it|that)|please|you|job|idea|one|point|work|question|to (?:know|hear)))*[\s.!,:)(]*$",
        r"^(?:that|this|it)(?:'s| is| was| sounds| looks| seems)? (?:so |very |really |pretty |quite |all |a )?(?:great|good|nice|cool|awesome|perfect|fine|ok|okay|right|correct|wrong|"
        r"bad|funny|interesting|helpful|works?|true|better|done|useful|amazing|terrible|weird|strange|wonderful|lovely|not (?:right|good|bad|what i))\b.{0,30}$",
        r"^(?:have a (?:nice|good|great)|how are you|nice to meet|take care|good luck|happy (?:birthday|new year)|congrat)",
        r"^i (?:really )?(?:like|love|hate) (?:it|that|this|them|the (?:idea|answer|result)|your (?:answer|idea))\b",
        r"^i(?:'m| am) (?:doing )?(?:fine|good|great|ok|okay|well|back|here|ready|sorry|glad|happy to|afraid|done|kidding|joking|off to (?:bed|sleep)|going to (?:bed|sleep))\b",
    ),
    request=cue(
        rf"^(?:please,? |pls |kindly |now |then |and |also |just |first,? |next,? |ok(?:ay)?,? |so |go ahead and )*(?:{_VERBS})\b",
        r"^(?:can|could|would|will) you\b",
        r"\bi(?:'d| would)? (?:want|need|like) (?:you|your)\b",
        r"^i(?:'d| would)? (?:need|want|like|love) (?:some |a |an |the |more |another )?(?:help|to (?:know|see|understand|ask|hear|get an? (?:idea|overview))|script|function|example|"
        r"summary|list|explanation|code|idea|advice|suggestion|report|version|answer)",
        r"^(?:i|we)(?:'d| would)? (?:need|want|like) the\b|^(?:i|we) (?:want|need|would like|'d like) to (?:calculate|generate|implement|convert|extract|display|parse|compute|plot|print)\b",
        r"^i(?:'m| am|'ve been| have been) (?:still |also |just |currently |now )*(?:looking for|trying to|having (?:some |a few |a lot of |any )?(?:trouble|issues?|problems?|difficult\w+)|stuck|getting an?)\b",
        r"^please\b",
        r"^i have (?:a|an|another|one|some|this|the following) (?:quick |small |simple |few )?(?:question|problem|issue|doubt|idea|task|request|favor|error)s?\b",
        r"^let me (?:know|see|check|think|try|explain|ask)\b",
        r"\b(?:as|see|look) (?:below|above|attached)\b|\bhere(?:'s| is| are) (?:the|my|a|an|some) (?:log|code|error|file|text|output|article|email|screenshot|draft|message|snippet)",
        r"^(?:let's|lets) (?:see|try|start|begin|continue|go(?! with)|test|check|talk|discuss|say|think|look|find|get)\b",
    ),
    hypothetical=cue(
        r"\bif (?:i|we|he|she|it|they|you|there) (?:were|was|had|could|would|did)\b",
        r"^(?:if|suppose|supposing|imagine|assume|assuming|let's (?:say|assume|pretend|imagine)|say|pretend|hypothetically|what if|in theory|theoretically|unless)\b",
        r"\b(?:would|could) (?:be nice|be cool|be great|have been|love to have|rather not say)\b|\bi wish\b|\bif only\b|\bwould(?:n't)? it be\b",
        r"\b(?:hypothetical(?:ly)?|for the sake of argument|in an ideal world|role-?play|in (?:my|the|this) (?:story|novel|game|dream))\b",
        r"\b(?:e\.g\.|for example|for instance|as an example)[,:]",
    ),
    sarcasm=cue(
        r"(?:^|\s)/s(?:\s|$)",
        r"\b(?:yeah,? right|as if|oh,? (?:great|sure|wonderful|fantastic|perfect),|sure,? because|totally not|said no one|lucky me|just what i needed|best part of (?:the|my) (?:day|week|year)|thanks a lot,? (?:for nothing|genius)|what a surprise)\b",
        r"🙄|🙃",
        r"\b(?:exactly|just) what (?:i|we) (?:needed|wanted)\b",
        r"^(?:oh,? )?(?:sure|great|awesome|wonderful|perfect|lovely|fantastic|brilliant|nice),? (?:yet )?another\b",
        r"\bbecause (?:obviously|clearly) (?:everyone|i|we|that)\b.{0,40}!$",
    ),
    empty_fact=cue(
        r"^(?:i|we)(?:'m| am|'re| are| was| were) (?:not |so |very |really |a bit |just |still |also |quite |pretty |kind of |getting )*"
        r"(?:sure|ok|okay|fine|sorry|happy|glad|afraid|confused|stuck|curious|trying|asking|thinking|back|here|ready|done|tired|bored|excited|lost|surprised|impressed|talking about|"
        r"saying|wondering|guessing|aware|interested|certain|right|wrong|kidding|in a hurry|busy|good|great|well|sad|hungry)\b(?! (?:of|about|with|from|in|at|by|to) [A-Z\w])",
        r"^(?:i|we) (?:think|guess|believe|suppose|hope|mean|see|know|understand|agree|feel|bet|doubt) (?:so|not|it|that(?:'s| is| was)? (?:right|true|fine|good|ok|great)|i (?:see|understand|get))\b",
        r"^(?:because|which|whereas|so that|so much|as if)\b|^it (?:seems|sounds|looks|feels|appears)\b",
        r"^(?:i|we) (?:\w+ )?(?:agree|disagree|swear)\b|^(?:i'm|we're) (?:getting there|down (?:to|for)|game (?:to|for)|all in|so in)\b|\btake a look\b|^i'd love to (?:help|lend|join|see|hear|know|come|be)\b|^since (?:we|i) last (?:chatted|spoke|talked|saw)\b(?!.*\bi (?:went|got|bought|moved|started)\b)|^i know (?:i|it|that|you|this|what|how|they)\b|^i feel like i can\b|^i've never (?:thought|heard|seen|realized)\b",
        r"^(?:it|this|that|there|here|these|those)(?:'s|'re| is| are| was| were| does| doesn't| did| didn't| works?| worked)\b",
        r"^(?:you|your)\b|^(?:nobody|everybody|everyone|no one) (?:likes|knows|loves|hates|wants|cares)\b|^(?:the|another|this) (?:first|second|third|other|last) (?:one|guy|thing)\b",
        r"^(?:the|that|this) (?:answer|code|result|output|response|thing|one|part|point|idea|problem|issue|question|solution|link|file|image|text)s? (?:above|below|you|is (?:wrong|right|good|great|fine|not|correct)|works|worked|doesn't|didn't|looks)\b",
        r"^(?:i|we) (?:don't|do not|didn't|did not|can't|cannot|couldn't) (?:know|understand|see|get|remember|think so|mind|care|find|follow|have time)\b(?!.{0,80}\b(?:password|deadline)\b)",
        r"^(?:i|we)(?:'m| am|'re| are|'ve been| have been| was)? (?:also |just |so |very |really |definitely |still |quite |always been |particularly )*(?:"
        r"(?:curious|excited|impressed|thrilled|amazed|looking forward|glad|happy|relieved|open to|hoping|wondering|eager|grateful|struggling to understand)\b|"
        r"interested in (?:learning|knowing|hearing|understanding|finding|seeing|the|that|this|these|more|how|exploring|trying)\b)",
        r"^(?:i|we) (?:really |also |totally |definitely |do |can |just )*(?:appreciate|understand|see|hear|get|noticed?|thought|wonder|wish|hope|imagine|bet|guess|admit|mean|only imagine|tell you)\b(?! .{0,40}\bmy\b)",
        r"^(?:i|we) (?:had|have) no idea\b|^i never (?:knew|realized|thought|heard)\b|^i didn't (?:know|realize|realise)\b|^it's (?:great|good|sad|nice|amazing|interesting|fascinating)\b",
        r"^(?:i've|i have|i) (?:also |just |never |recently )*(?:heard|read|seen|noticed) (?:that|about|of|some|many|a lot|good|great|mixed|there)\b",
        r"^(?:wow|whoa|omg|ugh|aw+|yikes|yay)\b",
        r"\b(?:thinking (?:of|about)|considering|torn between|deciding between|was thinking)\b.*\bor\b",
        r"^(?:i|we) (?:really |also |just |still |do |personally )*(?:think|guess|believe|feel|find|found|suppose|bet|feel like) (?:that )?(?:it|this|that|these|those|they|there|he|she|the)\b(?!.{0,80}\bmy\b)",
        r"^now that\b|^speaking of\b|^as for\b|^regarding\b",
        r"^(?:those|these|all of those|all of these|both) .{0,40}\b(?:sound|look|seem|are)\b",
        r"^(?:i|we)(?:'m|'re)? (?:just|only|really) (?:want|wanna|need|feel like|wish)\b|^(?:i|we) wanna\b|\bwho knows\b|^can't wait\b|^glad\b",
        r"^(?:(?:i|we)(?:'m|'re| are| am)? (?:gonna|going to) |let's )?keep (?:on |it |up |\w+ing\b)|^(?:we|i) (?:just |all )?gotta (?!\w+ .*\d)\w+ (?:them|it|on)\b",
        r"^(?:it )?seems? like\b|^together\b|^woo+|^being an? \w+ is\b|^haven't (?:talked|chatted|spoken|seen you)\b|^(?:some|every)thing \w+ (?:has )?happened\b|^a lot(?:'s| has)? happened\b.{0,40}$",
        r"^(?:i|we)(?:'m|'re| are| am) (?:\w+ ){0,2}(?:proud of (?:who|what|how)|hanging in|giving back|making progress|making a difference|grateful|blessed|thankful)\b",
        r"^(?:we|i)(?:'ll| will| can) (?:all )?(?:make a difference|do (?:this|it|amazing)|get through)\b",
        r"^(?:it|this|that) must\b|^(?:i|we) (?:really|sure|totally) do\b",
        r"^i could (?:sleep|eat|kill|cry|murder|use|do with)\b",
        r"^(?:same|nothing|everything|something|anything|someone|everyone) (?:is|was|else|here|works?|looks?)\b",
    ),
    address=cue(r"\b(?:you(?:'re|'ve|'ll|'d)?|yours?|ya|u|ur|y'all)\b"),
    joke=cue(
        r"\b(?:just kidding|jk|only kidding|i'm kidding|i am kidding|j/?k|just joking|i'm joking|it was a joke|that was a joke)\b"
    ),
    retract=cue(
        r"^(?:no,? |oh,? |ok,? |actually,? |hmm,? |wait,? )*(?:never ?mind|forget (?:it|that|what i (?:said|wrote)(?! (?:about|regarding|on)\b)|about it)|scratch that|ignore (?:that|my last|what i)|disregard (?:that|my last)|cancel that)\b"
    ),
    material=cue(
        r"\b(?:translate|summari[sz]e|proofread|rewrite|rephrase|paraphrase|correct|edit|polish|fix|explain|review|analy[sz]e|shorten|format|reply to|respond to|classify|convert|improve|comment on)\b"
        r"[^.!?:\n]{0,80}:\s*\S?",
        r"\b(?:here(?:'s| is| are)|this is|see|following|below is)\b[^.!?:\n]{0,60}\b(?:log|logs|code|error|output|article|email|mail|message|text|snippet|transcript|stack ?trace|story|poem|draft|document|"
        r"paragraph|quote|letter|essay|review|post|tweet|chat|excerpt|passage|dialogue)\b[^.!?:\n]{0,40}:",
        r"\b(?:wrote|writes|says|said|replied|posted|emailed me)(?: this| the following| back)?:\s*[\"“'>\n]",
    ),
    affirm=cue(
        r"^(?:yes|yeah|yep|yup|sure|ok(?:ay)?|right|correct|exactly|agreed|absolutely|definitely|perfect|go ahead|do (?:it|that)|sounds good|please do|that's (?:right|correct|it)|confirmed|let's do (?:it|that)|"
        r"i agree|works for me|good idea|deal)(?:[\s,.!]+(?:please|do (?:it|that)|let's do (?:it|that)|go ahead|thanks?|thank you|exactly|that's (?:right|correct|it)|sounds good|perfect|great|sure|agreed|works for me|i agree))*[\s.!]*$"
    ),
    offer=cue(
        r"\b(?:would you like|do you (?:want|have any|need)|shall i|should i|may i|can i|could i|let me know|anything else|any (?:other )?questions?|want me to|are you (?:looking|interested|ready)|"
        r"does (?:that|this) (?:help|sound|make|work)|how (?:can|may) i|what (?:do|would) you think|is there anything|sound good|ready to|how does that sound)\b"
    ),
    lead=cue(
        r"^(?:wow|whoa|haha+|lol|(?:hi|hello|hey)(?: (?:there|claw|everyone|all|again|[A-Z]\w+))?|(?:thanks|thank you|thx)(?: a lot| so much| very much)?(?: for (?:asking|that|this|the \w+|your \w+|sharing|letting me know|listening))?|(?:no|not a) problem|no worries|(?:i )?(?:totally |completely |so )?agree(?:d)?|ok(?:ay)?|great|cool|perfect|awesome|nice|alright|sure|yes|yeah|yep|right|"
        r"well|oh|ah|hmm+|so|however|still|now|then|um+|anyway|listen|look|fyi|btw|by the way|also|and|but|plus|additionally|besides|one more thing|another thing|oh and|as i said|as you know|you know|i mean|to be clear|"
        r"just so you know|for your information|for the record|important|note|please note(?: that)?|quick note|heads up|update|honestly|basically|actually|in fact|"
        r"(?:i (?:should|forgot to|want to|wanted to|have to|also want to) (?:mention|tell you|say|add)(?: that)?)|(?:i'd like (?:you to know|to mention|to add)(?: that)?))\b[\s,.!:;—–-]+(?=\S)"
    ),
    remember=cue(
        r"^(?:please,? |pls,? |plz,? |can you |could you |also,? |oh,? |and )*(?:remember|memori[sz]e|keep in mind|bear in mind|note to (?:self|myself)|(?:pls|plz) (?:note|remember)|n\.?b\.?(?=[:, ])|note(?: down)?|take note|don't forget|save (?:to|in) memory|make a note|store in memory|remember this|remember for later|for future reference)"
        r"(?:\s*[:,—-]|\s+(?:that|this:|this fact:|the following:|for me(?: that)?))?\s+(?!to\b|when\b|how\b|what\b|me\b)"
    ),
    correction=cue(
        r"^(?:no+(?=[,.!;:—–-]| (?:it|it's|that|that's|the|my|our|we|i|i'm|wait|sorry|not|make|actually|on|at|in|he|she|they)\b)|nope|wait|sorry|oops|correction|i was wrong|my mistake|i misspoke|actually|on second thought|that's (?:wrong|not right|not correct|incorrect)|not (?:quite|exactly|anymore|any more))"
        r"(?:[\s,.!:;—–-]+(?:no|wait|sorry|actually|correction|my mistake|i meant(?: that| to say)?|i mean|it's actually|that's wrong|let me correct that|i was wrong))*[\s,.!:;—–-]+(?=\S)",
        r"^(?:hmm+,? |no+,? |oh,? |wait,? |sorry,? |ah,? )*(?:i meant(?: to say)?(?: that)?|i mean(?=,? (?:it's|it is|not|the|at|on|in)\b)|i should have said)\s*[,:]?\s+",
        r"^(?:hmm+,? |no+,? |oh,? |oops,? |wait,? |sorry,? |ah,? |actually,? )*(?:i |i've )?(?:(?:mixed|messed) (?:it|that|this|them|things|the \w+) up|got (?:it|that|this) wrong|mistyped|misspoke|misremembered|typo|my bad|wrong (?:day|date|number|one|name))\s*[,.:;—–-]*\s+(?=\S)",
        r"^(?:hmm+,? |no+,? |oh,? |wait,? |sorry,? |actually,? )*(?:make (?:it|that)|let's make (?:it|that)|(?:it|that) (?:should|must) be|should be)\s+(?=\S)",
        r"^(?:i (?:have |just )?)?changed my mind\s*[,.:;—–-]+\s*(?=\S)",
        r"^(?:scratch|strike|forget) what i (?:said|wrote|told you)(?: \w+){0,5}?\s*[,.:;—–-]+\s*(?=\S)",
        r"^(?:no,? |oh,? |ok,? |hmm,? |wait,? )*(?:scratch|strike|forget|ignore|disregard) that\s*[,.:;—–-]+\s*(?=\S)",
        r"^(?:small |quick )?(?:update|change of plans?|correction|edit|small fix)\s*[:,—-]+\s*(?=\S)",
    ),
    contrast=cue(
        r"^(?!(?:it's|it is|that's|he's|she's) not\b)(?:it's |it is |its |it was |it leaves |it starts |i meant |i mean |make it |make that |that's |they're |she's |he's )?(?P<new1>[^,;]{2,60}?),? (?:not|instead of|rather than) (?P<old1>[^,;.!?]{2,60})[.!]?$",
        r"^(?:it's |it is |that's |he's |she's )?not (?P<old2>[^,;.!?]{2,60}?),? (?:but|it's|it is) (?P<new2>[^,;.!?]{2,60})[.!]?$",
    ),
    anaphora=cue(
        r"^(?:it|it's|its|this|that|that's|these|those|they|they're|them|their|he|he's|she|she's|him|her|his|there|such|both|neither|the (?:former|latter|same)|so does|because of (?:that|this)|which)\b"
    ),
    pronoun=cue(r"\b(?:him|her|them|it|that|this|those|these|he|she|they)\b"),
    joint=cue(
        r",? (?:and|but|so|because|since) (?=(?:i|we|my|our)\b(?!'m (?:looking|wondering|curious|not sure|hoping)))"
    ),
    aside=cue(
        r",? (?:and|so|but) (?:i'm|i am|i was|we're|we are) (?:also |just |currently |now )?(?:looking for|looking to (?:get|find)|wondering|curious|not sure|unsure|hoping (?:to|you|for)|trying to (?:figure|find|decide|understand)|"
        r"seeking|interested in|having (?:trouble|difficulty|a hard time)|stuck|excited|torn)\b.*$",
        r",? (?:and|so|but) (?:i|we)(?:'d| would)? (?:need|could use|want|like|love|was hoping for|don't know|'d like|would appreciate) (?:to (?:know|get|hear|see|find out|make sure|understand) |some |a few |a bit of |any |more |your |a little |help|advice|tips|ideas|suggestions)"
        r"(?:.*\b(?:help|advice|tips|ideas|suggestions?|recommendations?|information|guidance|what|how|where|which|if|your)\b.*)?$",
        r",? (?:and|so|but) (?:i |we )?(?:also )?(?:need|could use|want|would like) (?:some |a bit of |a little |your )?(?:help|advice|tips|ideas|suggestions|recommendations|guidance)\b.*$",
        r",? (?:and|so|but) (?:i )?(?:thought|figured) (?:i|you)\b.*$",
    ),
    instruction=cue(
        r"^(?:so |and |also |please,? )*(?!(?:from now on|going forward),? (?:i|we)(?:'m|'ll|'re)? (?!want|need|expect|would like))(?:(?:always|never)\b(?! (?:here|there|happy|glad|up|down|say never|know|had|have|been|be able|was|were|good|nice|great|fun|a|an|the|my|knew|thought|gonna|going to|really|too|again|mind|ever|seen|heard|\w+ed|\w+ing)\b)|from now on|going forward|in (?:the )?future|whenever|every time|each time|by default|when (?:i|you|we|writing|answering|replying|coding)\b|if i (?:ask|say|write)\b|"
        r"after (?:each|every)|before (?:each|every|you))\b",
        r"^(?:please,? )*(?:don't|do not)(?: ever)? (?:use|ask|call|tell|suggest|send|write|add|say|apologi[sz]e|mention|recommend|touch|delete|change|commit|push|deploy|show|share|remind|schedule|book|translate|"
        r"format|explain|repeat|reply|answer|speak|put|make|start|end|assume|guess|edit|modify|remove|install|run)\b",
        r"^(?:please,? |you can |just )*(?:call|address) me\b",
        r"^(?:please,? )*(?:answer|reply|respond|speak|talk|write|communicate)(?: to)? me (?:always|only|never)\b",
        r"^(?:please,? )*(?:answer|reply|respond) me (?:in (?!one\b|a\b|an\b|the\b|two\b|this\b|detail\b|your\b|full\b)\w|(?:briefly|shortly|concisely|without)\b)",
        r"^(?:please,? )*(?:answer|reply|respond|speak|talk|write|communicate)(?: to me| with me| back)? (?:only |always |just )?(?:in|briefly|shortly|concisely|using|with|without)\b(?! (?:this|these|the following|it)\b)",
        r"^(?:please,? )*(?:avoid|stop) \w+ing\b",
        r"^(?:please,? )*(?:keep|make) (?:your |all |the |every )?(?:answers?|replies|responses?|messages?|commits?|code|tests?)\b",
        r"^(?:please,? )*use (?!this|that|these|those|it|the (?:above|following|data|text|list|file|code|table))\S+(?: \S+){0,6} (?:for|in|instead|not|when|everywhere|as|with|rather)\b",
        r"\byou (?:should|must|need to|have to|may|can)(?:n't| not)? (?:always|never|ever)\b",
        r"\b(?:from now on|going forward)\b(?!,? (?:i|we)(?:'m|'ll|'re)? (?!want|need|expect|would like))",
        r"\bi (?:want|need|expect|'d like|would like) you to (?:always|never|only)\b",
        r"\bi(?:'d| would)? prefer (?:that |if |it if |it when )?you\b",
        r"^(?:the )?rule(?: is)?:",
        r"^(?:please,? )*(?:forget|ignore|drop) (?:what i (?:said|told you|asked)(?: \w+)?|(?:the|my) (?:\w+ )?(?:rule|wish|instruction)s?) (?:about|regarding|on)\b",
        r"^(?:[\w']+ ){1,5}?[\w']+: (?:please,? )*(?:(?:always|never|only|don't|do not) (?:use|give|write|answer|reply|suggest|recommend|mention|call|ask|show|send|speak|explain|add|tell|book|plan|schedule)\b)",
        r"^(?:please,? )*(?:don't|do not)?\s*(?:when(?:ever)?|if) you (?:recommend|suggest|propose|answer|reply|respond|write|plan|schedule|explain|summari[sz]e|translate|book|draft|send)\b",
        r"^(?:please,? )*(?:(?:only|just) )?(?:suggest|recommend|propose) (?:only|just|nothing|no|at most)\b",
        r"\byou (?:may|can|are allowed to)(?: now| again| also)* (?:recommend|suggest|propose|use|schedule|plan|book|mention|write|answer)\b",
    ),
    norm=cue(
        r"^(?!i\b|we\b|you\b|your\b|that\b|this\b|having\b|it\b|he\b|she\b|they\b)(?:[\w'-]+ ){1,4}(?:must|must not|should never|should always)\b(?! (?:have|be (?:a |an |so |such |very |really |quite |great|nice|hard|tough|amazing|awesome|fun|exciting|proud|wonderful))|'ve)"
    ),
    habit=cue(
        r"^(?:i|we)(?:'ll| will|'m going to| am going to|'ve| have)?\b.*\b(?:from now on|going forward)|\b(?:i|we|he|she|they|my \w+|our \w+)(?:'ve|'ll| have| will| had)? (?:\w+ )?(?:always|never|usually|often|rarely|sometimes|every)\b"
    ),
    decision=cue(
        rf"{_I}(?: \w+){{0,2}} (?:decided|chose|chosen|picked|agreed|concluded|opted|switched|settled on|go with|going with|went with|stick with|sticking (?:with|to)|migrated|migrating|switching|adopted|dropped)\b",
        rf"{_I}(?: are| am)? ?(?:going to|will|'ll) (?:use|go (?:with|for|ahead with)|switch|adopt|migrate|drop|keep (?!you\b|ya\b|going|trying|working|pushing|at it|in |up|it|that|on|an eye)|host|deploy on|name|call (?!you|ya|it a))\b",
        r"^(?:let's|lets|let us) (?:use|go with|stick|switch|pick|call|keep|move|name|adopt|drop|set|deploy|host|store|settle|agree|postpone|cancel|meet|plan|schedule|book)\b(?! (?:it|this|that|on|going|working|pushing|trying|moving|up|in|doing|learning|supporting|making|spreading)\b)",
        r"^(?:final |our |my |the )*(?:decision|verdict|conclusion|plan)(?: is| was|:)",
        r"\b(?:it(?:'s| is| was| has been)|we have) decided\b|\bthe (?:team|board|client|committee) (?:has )?(?:decided|chose|agreed|picked)\b|\bagreed (?:that|to|on)\b",
    ),
    preference=cue(
        rf"(?:{_I}|{_MY} \w+(?: \w+)?)(?: (?!feel|felt|look|looks|sound|seem|would|sounded)\w+){{0,2}} (?<!'d )(?:prefer|prefers|like|likes|love|loves|enjoy|enjoys|hate|hates|dislike|dislikes|adore|can't stand|cannot stand|can't bear|favou?r)\b(?! (?:to (?:know|see|ask|hear|get)|you|some|help)\b)",
        r"\b(?:don't|do not|doesn't|does not|never|can't|cannot) (?:like|eat|drink|want|enjoy|use|tolerate)\b",
        r"\bfavou?rites?\b",
        r"\b(?:coeliac|celiac|diabetic|asthmatic|epileptic|allergic|allerg(?:y|ies)|intoleran(?:t|ce)|lactose|teetotal)\b",
        r"(?:'m|'re|'s|\b(?:am|is|are|be|been|being|went|goes|go|turned|strictly|as a)) (?:a |an |both |all |now |\w+ly )?(?:vegetarians?|vegans?|pescatarians?|gluten[- ]free|kosher|halal)\b(?! (?:recipe|food|dish|meal|restaurant|option|potluck))",
        rf"{_I}(?: am| are)? (?:not )?(?:(?:a )?(?:big |huge |great )?(?:fan of|into|fond of|keen on)|addicted to)\b",
        r"\bi'd rather\b|\brather than\b.*\bi\b",
        r"\bmy preference\b|\bpreferred\b",
    ),
    reminder=cue(r"^(?:please,? )*(?:remind (?:me|us)|don't (?:let me )?forget to|to-?do\b|action item|next steps?\b)"),
    todo=cue(
        rf"{_I}(?: \w+)? (?:need to|have to|must|should|gotta|got to|plan to|planning|intend to|going to|will|'ll|want to|would like to|'d like to|hope to|aim to|supposed to|promised|have an? (?:appointment|meeting|interview|exam|flight))\b(?! (?:know|see if|ask|understand|be (?:fine|ok|great|nice|good)|never|say|think)\b)",
        r"\bi'll\b(?! (?:try|see|let you|check|take a look|think|be (?:fine|back)|never)\b)",
        r"^(?:please,? |can you |could you )*remind (?:me|us)\b|^don't (?:let me )?forget to\b|^(?:to-?do|action item|next steps?)\b",
        r"\b(?:deadline|due (?:date|on|by|in)?|is due|are due|must be (?:done|finished|ready|submitted)|needs? to be|has to be|have to be)\b",
    ),
    event=cue(
        rf"(?:{_I}|{_MY} \w+(?: \w+)?|\b[A-Z]\w+)(?: have| has| had| just| finally| already| recently| also)* (?:went|visited|met|bought|sold|finished|started|launched|shipped|released|moved|got|had|broke|lost|found|won|passed|failed|"
        r"graduated|married|born|died|signed|joined|left|quit|hired|fired|deployed|booked|flew|attended|ran|completed|celebrated|adopted|arrived|returned|cancelled|canceled|postponed|scheduled|renewed|"
        r"upgraded|migrated|installed|crashed|published|submitted|received|ordered|paid|fixed|injured|retired|promoted|enrolled|registered|traveled|travelled|saw|read|watched|made|built|gave|took|came|became)\b",
        r"\b(?:meeting|appointment|flight|interview|birthday|wedding|exam|conference|release|launch|demo|trip|vacation|holiday|concert|party|surgery|dentist|checkup|anniversary|standup|retro|review|workshop|call)\b"
        r".{0,40}\b(?:is|are|was|on|at|in|starts?|begins?|takes place|scheduled|moved|tomorrow|tonight|next)\b",
    ),
    own=cue(
        rf"{_I}",
        rf"{_MY}",
        r"^(?:can't|cannot|won't|haven't|couldn't|didn't)\b(?! you\b)|^(?:the )?kids\b",
        r"\bmine\b|\bours\b|^me and\b|\b(?:mum|mom|dad|grandma|grandpa|granny)\b",
        r"^(?:just |finally |recently |already )*(?:got|bought|sold|moved|finished|started|booked|need to|planning to|going to|living in|working (?:at|as|for|in|on))\b",
    ),
    states=cue(
        r"\b(?:is|are|was|were|'s|has|have|had|runs?|uses?|lives?|works?|costs?|starts?|ends?|needs?|wants?|likes?|supports?|contains?|lies|sits|stays|takes|gets|means|equals|expires?|listens?|belongs?|"
        r"leads?|owns?|manages?|speaks?|prefers?|studies|plays|comes|goes|happens|says|said|told|asked|thinks|must|can|will|should|cannot|doesn't|don't|didn't|isn't|aren't|wasn't|moved|became|changed)\b",
    ),
    clause=cue(
        rf"{_I}",
        r"\b(?:is|are|was|were|'s|has|have|had|will|can|must|should|does|do|did|costs?|lives?|works?|runs?|uses?|needs?|wants?|likes?|loves?|hates?|says?|said|turns?|goes|went|got|gets|takes?|took|made|makes|came|comes|"
        r"knows?|thinks?|speaks?|plays?|studies|starts?|ends?|expires?|contains?|prefers?|eats?|drinks?|drives?|sleeps?|teaches|died|born|left|moved)\b|n't\b|\b\w{2,}ed\b",
        r"^(?:the|our|their|his|her|my|a|an|every|each|all|[A-Z][\w'-]*)\b(?: [\w'-]+){0,5} \w{2,}(?<!s)s\b(?: |$|\.)",
        r"^(?:[\w'-]+ ){0,4}(?:[\w'-]+s|people|kids)(?: (?:for|of|from|in|at|with|to) (?:[\w'-]+ ){0,2}[\w'-]+)? (?:go|come|run|need|break|finish|play|sleep|eat|visit|take|cost|use|live|work|start|end|close|open|require|have|get|sit|belong|ship|arrive|leave|expire|include|contain|support|pay|handle|own|keep|make|bring|send|answer|report|meet|stay|count|happen)\b",
        r"^[^:]{2,60}: \S|^(?:just |finally |recently |already )*(?:got|bought|sold|moved|finished|started|booked|need to|planning to|going to|living in|working (?:at|as|for|in|on))\b",
    ),
    timed=cue(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b"),
    placed=cue(
        r"\b(?:goes|go|lives?|belongs?|(?:is|are) kept|(?:is|are) stored|hangs?) (?:in|on|under|behind|next to|by|into) (?:the|our|my)\b",
        r"\b(?:is|are|'s) (?:behind|under|next to|opposite|above|below) (?:the|our|my)\b",
    ),
    result=cue(
        r"^(?:i|we)(?:'ve| have)? (?:now |also |just |successfully |already )*(?:fixed|created|added|deployed|installed|updated|renamed|moved|removed|deleted|configured|set up|migrated|implemented|scheduled|booked|sent|wrote|"
        r"written|saved|merged|committed|pushed|published|released|refactored|replaced|upgraded|enabled|disabled|resolved|ordered|cancelled|canceled|registered|generated|converted|restored|backed up|changed|built)\b",
        r"^(?:done|fixed|finished|completed)[:.,!—–-]+\s*\S+",
        r"\b(?:is|are) now (?:live|running|deployed|available|fixed|installed|configured|set|scheduled|enabled|disabled|listening|up)\b",
        r"^the (?:bug|issue|problem|error|crash|root cause|failure) (?:was|is) (?:caused|fixed|due|that|in|a|an|resolved)\b",
        r"\ball (?:\d+ )?tests (?:now )?pass\b",
    ),
    change=cue(
        r"\b(?:no longer|any ?more|any longer|instead of|from now on|after all|used to)\b",
        r"\b(?:is|are|'s|its|'re|has|have)(?: \S+){0,5} now\b(?! (?:i|we|that)\b)|\bnow (?:is|are|runs?|uses?|starts?|lives?|works?|goes|costs?|opens?|closes?)\b",
        r"\b(?:moved|changed|switched|pushed|bumped|rescheduled|postponed|shifted)\b.{0,30}\b(?:to|till|until)\b",
    ),
    hedge=cue(
        r"\b(?:maybe|perhaps|probably|possibly|might|i think|i guess|i suppose|i believe|not sure|kind of|sort of|could be|likely|apparently|seems?|i'm thinking (?:of|about)|considering|or something)\b"
    ),
    transient=cue(
        r"\b(?:right now|at the moment|currently|just now|for now|today|tonight|this (?:morning|afternoon|evening)|temporarily|a minute ago|earlier today)\b"
    ),
    firm=cue(
        r"\b(?:learn|quit|lose weight|renew|apply|save (?:up|for)|retire|graduate|need to|have to|must|gotta|got to|deadline|due|remind|appointment|meeting|interview|exam|flight|promised|supposed to|to-?do|plan(?:ning|s)? (?:to|a|an|on|my|our|for)|intend|booked|scheduled)\b"
    ),
    strong=cue(
        r"\b(?:important|critical|crucial|essential|must|never|always|urgent|emergency|allergic|allergy|deadline|legal|medical|promise[ds]?)\b"
    ),
    hearsay=cue(
        r"^(?:according to\b|(?!i\b|we\b|you\b|it\b)[A-Za-z][\w'-]*(?: [A-Za-z][\w'-]*){0,3} (?:says?|said|told (?:me|us)|claims?|claimed|thinks?|mentioned|reported|believes?|heard|wrote|promised|asked|suggested)\b)",
        r"\bi (?:heard|read|was told) (?:that|from|in)\b|\brumou?r has it\b|\bsupposedly\b",
    ),
)
