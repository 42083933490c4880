"""Sentences and pairs of the contrast bench that need no data: a table, so one long file."""

from __future__ import annotations


def _pairs(text: str) -> list[tuple[str, str]]:
    """Lines of ``one | other``, where ¶ begins a new line."""
    found = []
    for line in filter(str.strip, text.split("\n")):
        left, right = line.split(" | ")
        found.append((left.replace(" ¶ ", "\n").strip(), right.replace(" ¶ ", "\n").strip()))
    return found


CHANGED = {
    kind: _pairs(text)
    for kind, text in {
        "only": """
            Only Ada may open the vault. | Ada may open the vault.
            Only members can vote | Members can vote
            We ship to Norway only. | We ship to Norway.
            Just Bo has the password. | Bo has the password.
            Nobody but Ada may open the vault. | Ada may open the vault.
            The lamp alone uses 5 W. | The lamp uses 5 W.
        """,
        "if/unless": """
            Close the archive at six unless it is Friday. | Close the archive at six if it is Friday.
            Close the archive at six unless it is Friday. | Close the archive at six.
            Restart the server if the queue is full. | Restart the server only if the queue is full.
            Call Ada when the pump stops. | Call Ada before the pump stops.
            Use the spare key if the lock is frozen. | Use the spare key even if the lock is frozen.
            We meet if it rains. | We meet whether or not it rains.
        """,
        "condition dropped": """
            We stay at home if it rains. | We stay at home.
            Guests may park here after 18:00 provided they have a ticket. | Guests may park here after 18:00.
            Should the alarm ring, leave the house. | Leave the house.
            Once the tests pass, merge the branch. | Merge the branch.
            Water the plants when the soil is dry. | Water the plants.
            Pay the invoice on receipt of the goods. | Pay the invoice.
        """,
        "and/or": """
            Send the invoice to Ada and Bo | Send the invoice to Ada or Bo
            Bring a passport or an identity card. | Bring a passport and an identity card.
            Either Ada or Bo signs. | Ada and Bo sign.
            Ada and/or Bo sign | Ada and Bo sign
        """,
        "exchanged arguments": """
            Team A reports to team B | Team B reports to team A
            Ada lent Bo the car. | Bo lent Ada the car.
            Ada is taller than Bo. | Bo is taller than Ada.
            The backup replaces the original. | The original replaces the backup.
            Copy the files from staging to production. | Copy the files from production to staging.
            Ada sold the boat to Bo for 500 euros. | Bo sold the boat to Ada for 500 euros.
            Service auth calls service billing. | Service billing calls service auth.
            We prefer tea to coffee. | We prefer coffee to tea.
            The cat was chased by the dog. | The dog was chased by the cat.
            Node A is the parent of node B. | Node B is the parent of node A.
            Bo owes Ada money. | Ada owes Bo money.
            Use tabs instead of spaces. | Use spaces instead of tabs.
            Substitute butter for oil. | Substitute oil for butter.
            Ada, not Bo, leads the team. | Bo, not Ada, leads the team.
            Ada's boss is Bo. | Bo's boss is Ada.
            The house is left of the church. | The church is left of the house.
        """,
        "ratio": """
            Mix cement and sand 1:3. | Mix cement and sand 3:1.
            The screen is 16:9 | The screen is 9:16
            Dilute it 1 to 4 | Dilute it 4 to 1
            We won 2-1. | We won 1-2.
            One part salt to three parts water. | Three parts salt to one part water.
            The gear ratio is 1:12. | The gear ratio is 1:21.
        """,
        "range": """
            Store it at 3–5 degrees. | Store it at 3–6 degrees.
            Open from 9 to 17 | Open from 9 to 18
            It takes 3-5 days | It takes 5 days
            Pages 10-20 | Pages 10 and 20
        """,
        "plan beside deed": """
            We plan to sell the boat | We sold the boat
            We plan to sell the boat | We sell the boat
            We are thinking about moving to Oslo. | We are moving to Oslo.
            Ada considered buying a car. | Ada bought a car.
            Ada wants a dog. | Ada has a dog.
            Ada intends to resign. | Ada resigned.
            Ada promised to pay Bo. | Ada paid Bo.
            Ada was about to call Bo. | Ada called Bo.
            We would have sold the boat. | We sold the boat.
            We should have called Bo. | We called Bo.
            Ada was going to sell the boat. | Ada sold the boat.
            We are going to migrate to Postgres. | We migrated to Postgres.
            Ada pretended to sleep. | Ada slept.
            Ada managed to open it. | Ada tried to open it.
            Ada got the job offer. | Ada got the job.
            We agreed to close the office. | We closed the office.
            Ada offered to drive. | Ada drove.
            The draft plan is approved. | The plan is approved.
        """,
        "no longer, still, used to": """
            Ada used to work at Acme. | Ada works at Acme.
            Ada no longer works at Acme. | Ada works at Acme.
            Ada doesn't work at Acme anymore. | Ada works at Acme.
            Ada stopped smoking. | Ada smokes.
            The old route is still open. | The old route is open again.
            Ada formerly led the team. | Ada leads the team.
            The release has not started yet. | The release has started.
            Ada quit playing chess. | Ada plays chess.
        """,
        "case in code": """
            Call getUser first. | Call getuser first.
            Edit /Etc/hosts | Edit /etc/hosts
            The class is HttpClient | The class is HTTPClient
            Set API_KEY in the shell | Set api_key in the shell
            Run `Make` in the folder | Run `make` in the folder
            Open README.md | Open readme.md
            Set userName in the form | Set username in the form
            ssh -p 22 host | ssh -P 22 host
            The bucket is myBucket | The bucket is mybucket
        """,
        "quantifier": """
            All tests pass | Some tests pass
            Most doors are locked | All doors are locked
            None of the doors are locked | All of the doors are locked
            Every guest gets a key | Any guest gets a key
            A few people came | Few people came
            All tests pass | Tests pass
            Almost all tests pass | All tests pass
            Not all tests pass | All tests pass
            Both doors are locked | One of the doors is locked
            Neither door is locked | Both doors are locked
            Half of the staff agrees | The staff agrees
            Ada ate the whole cake | Ada ate some of the cake
            The majority agreed | Everybody agreed
        """,
        "bounds": """
            Wait at least 5 minutes | Wait at most 5 minutes
            Wait at least 5 minutes | Wait 5 minutes
            Up to 10 guests | Over 10 guests
            Up to 10 guests | 10 guests
            No more than 3 attempts | 3 attempts
            A minimum of 3 reviewers | A maximum of 3 reviewers
            Keep it below 30 degrees | Keep it above 30 degrees
            Exactly 3 people | Around 3 people
            Within 3 days | After 3 days
            Wait for 3 days | Wait 3 days or more
            Fewer than ten people | Ten people
            Deliver by Friday | Deliver on Friday
            Open until Friday | Open from Friday
            Ada paid under 500 euros | Ada paid 500 euros
        """,
        "modal": """
            You must restart the server | You need not restart the server
            You must restart the server | You can restart the server
            You should restart the server | You restart the server
            Visitors may enter | Visitors must enter
            Visitors may enter | Visitors may not enter
            Ada can swim | Ada swims
            Ada has to leave | Ada wants to leave
            Ada is allowed to leave | Ada is forced to leave
            It is optional to sign | It is mandatory to sign
            It might rain | It will rain
            You ought to pay | You have to pay
            You had better pay | You may pay
        """,
        "tense": """
            Ada is the lead of the team | Ada was the lead of the team
            Ada lives in Oslo | Ada lived in Oslo
            Ada lives in Oslo | Ada will live in Oslo
            The server was down | The server is down
            Ada owns a boat | Ada owned a boat
            Ada has sold the boat | Ada is selling the boat
            Ada had a cat | Ada has a cat
            The shop will be open | The shop is open
            Ada wrote the report | Ada writes the report
            Ada has lived in Oslo | Ada lives in Oslo
        """,
        "who said it": """
            Ada thinks that the vault is safe | The vault is safe
            Bo says Ada left | Ada left
            According to Bo, the vault is open | The vault is open
            The vault is reportedly open | The vault is open
            I heard that the vault is open | The vault is open
            Ada doubts that the vault is open | Ada knows that the vault is open
            Rumour has it that Ada left | Ada left
            Ada told Bo that she won | Bo told Ada that she won
            It seems that the vault is open | The vault is open
            Ada hopes the vault is safe | Ada knows the vault is safe
        """,
        "question": """
            Is the vault open? | The vault is open.
            Ada left | Ada left?
            Does Ada work at Acme? | Ada works at Acme.
            Why did Ada leave? | Ada left.
        """,
        "hedge": """
            Maybe Ada left | Ada left
            Ada probably left | Ada certainly left
            Ada is perhaps ill | Ada is ill
            Presumably the vault is open | The vault is open
            The vault is likely open | The vault is open
            The vault is supposedly open | The vault is open
            In theory the vault is open | The vault is open
        """,
        "exception": """
            All doors are locked except the back door. | All doors are locked.
            Everybody but Ada came | Everybody came
            All but two tests pass | All two tests pass
            The office is open daily apart from Sunday | The office is open daily
            Prices exclude tax | Prices include tax
            Delete everything other than the logs | Delete everything and the logs
            Feed all cats save Tom | Feed all cats and Tom
        """,
        "order of steps": """
            First open the valve, then start the pump. | First start the pump, then open the valve.
            Stop the service before you copy the files. | Copy the files before you stop the service.
            1. Open the valve ¶ 2. Start the pump | 1. Start the pump ¶ 2. Open the valve
            Ada left after Bo arrived | Bo arrived after Ada left
            Compile, then test | Test, then compile
        """,
        "preposition": """
            Ada moved to Oslo | Ada moved from Oslo
            Put the key in the box | Put the key on the box
            Pay for the car | Pay with the car
            Ada ran into the house | Ada ran out of the house
            Ada spoke about Bo | Ada spoke with Bo
            The letter from Ada | The letter to Ada
            Vote for the plan | Vote against the plan
            Log in to the server | Log out of the server
            The tests run on the server | The tests run off the server
            Turn the lamp on | Turn the lamp off
            Ada works with Bo | Ada works for Bo
            A book by Ada | A book about Ada
        """,
        "operator": """
            Check that a == b | Check that a != b
            Run it if x < 3 | Run it if x > 3
            Set a = b + c | Set a = b - c
            The rule is a && b | The rule is a || b
            The rule is !ready | The rule is ready
            Use x >= 3 | Use x > 3
            Use x += 1 | Use x -= 1
        """,
        "flag": """
            Copy with cp -r | Copy with cp -R
            Set debug to true | Set debug to false
            Run it with --dry-run | Run it without --dry-run
            Run it with -v | Run it with -q
            Delete with rm -f | Delete with rm
        """,
        "file and address": """
            Edit config.yaml | Edit config.json
            The host is 10.0.0.12 | The host is 10.0.0.21
            Listen on port 8080 | Listen on port 8081
            Open http://localhost:3000 | Open http://localhost:3001
            See https://example.org/a | See https://example.com/a
            Mail ada@example.org | Mail ada@example.com
        """,
        "unit": """
            The motor needs 5 mW | The motor needs 5 MW
            The disk has 5 GB | The disk has 5 MB
            The link has 5 Mb | The link has 5 MB
            A fine of 20 euros | A fine of 20 dollars
            It is 20 °C | It is 20 °F
            The rent is 900 a month | The rent is 900 a week
        """,
        "cause and concession": """
            Ada left because Bo stayed | Ada left although Bo stayed
            Ada left so that Bo could stay | Ada left because Bo could stay
            Ada won despite the rain | Ada won because of the rain
        """,
        "frequency": """
            Ada always locks the door | Ada usually locks the door
            Ada never locks the door | Ada always locks the door
            Ada occasionally smokes | Ada smokes
            Ada rarely drinks coffee | Ada drinks coffee
            The job runs every hour | The job runs every other hour
        """,
        "comparative": """
            Ada is as tall as Bo | Ada is taller than Bo
            Plan A is better than plan B | Plan B is better than plan A
            Plan A is the best | Plan A is better
            The new pump is less noisy | The new pump is more noisy
            Ada is too young | Ada is young
            Ada is old enough | Ada is old
        """,
        "almost and failed": """
            Ada almost won | Ada won
            Ada failed to win | Ada won
            The deal nearly collapsed | The deal collapsed
            The former mayor lives here | The mayor lives here
            The alleged thief was caught | The thief was caught
            It is a fake Rolex | It is a Rolex
            Ada barely passed | Ada passed
            Ada avoided paying | Ada paid
        """,
        "number": """
            We are two | We are three
            We have 15 licences | We have 51 licences
            Ada ran 5.0 km | Ada ran 50 km
            Call 555-0134 | Call 555-0143
        """,
        "other languages": """
            Nur Ada darf den Tresor öffnen | Ada darf den Tresor öffnen
            Schick es an Ada und Bo | Schick es an Ada oder Bo
            Wir bleiben, wenn es regnet | Wir bleiben
            Ada zieht nach Berlin | Ada zieht von Berlin weg
            Alle Türen sind offen | Einige Türen sind offen
            Ada und Bo kommen | Ada oder Bo kommen
            Ada vient avec Bo | Ada vient sans Bo
            Ada vend le bateau | Ada ne vend pas le bateau
            Solo Ada puede abrir la puerta | Ada puede abrir la puerta
            Envía la factura a Ada y Bo | Envía la factura a Ada o Bo
            只有安娜可以开门 | 安娜可以开门
            我们明天去北京 | 我们昨天去北京
            我给安娜书 | 安娜给我书
            如果下雨我们就留在家 | 我们就留在家
            他可能来 | 他来
            แมวไล่หมา | หมาไล่แมว
            อาดาอาจจะมา | อาดามา
            Только Ада может открыть дверь | Ада может открыть дверь
            Ада или Боб придёт | Ада и Боб придёт
            Sadece Ada kapıyı açabilir | Ada kapıyı açabilir
        """,
    }.items()
}

KEPT = {
    kind: _pairs(text)
    for kind, text in {
        "order of a list": """
            Ada likes tea, milk and coffee. | Ada likes coffee, tea and milk.
            Send it to Ada and Bo | Send it to Bo and Ada
            Ada and Bo own a boat | Bo and Ada own a boat
            - tea ¶ - milk | - milk ¶ - tea
            Bring a red pen, a ruler and two stamps | Bring two stamps, a red pen and a ruler
            Bring a passport or an identity card | Bring an identity card or a passport
            The ports are 80, 443 and 8080 | The ports are 443, 80 and 8080
        """,
        "synonym of a connective": """
            Ada and Bo own a boat | Ada as well as Bo own a boat
            Ada stayed because it rained | Ada stayed since it rained
            Ada left, but Bo stayed | Ada left; however, Bo stayed
            Ada left early to catch the train | Ada left early in order to catch the train
            Ada has a dog and a cat | Ada has a dog plus a cat
            Open until Friday | Open till Friday
        """,
        "clause in front": """
            If it rains, we stay at home. | We stay at home if it rains.
            On Mondays we deploy. | We deploy on Mondays.
            When the soil is dry, water the plants. | Water the plants when the soil is dry.
        """,
        "passive": """
            The dog chases the cat | The cat is chased by the dog
            Ada wrote the report | The report was written by Ada
        """,
        "contraction": """
            We don't ship to Norway | We do not ship to Norway
            You can't park here | You cannot park here
            It's open | It is open
            They won't come | They will not come
        """,
        "punctuation": """
            Ada lives in Oslo. | Ada lives in Oslo
            Ada, who is ill, left | Ada who is ill left
            "Ada left" | Ada left
            Deploy on Thursday! | Deploy on Thursday.
        """,
        "British spelling": """
            The colour of the centre | The color of the center
            We organise a party | We organize a party
        """,
        "typing error": """
            The password is on the blackboard | The pasword is on the blackboard
            We definitely recieve guests | We definitely receive guests
        """,
        "format of a number": """
            We have 1,000 users | We have 1000 users
            We have three dogs | We have 3 dogs
            It costs $20 | It costs 20 dollars
        """,
        "other languages": """
            Ada wohnt in Berlin. | ada wohnt in Berlin
            我们明天去北京。 | 我们明天去北京
            Ада живёт в Москве. | Ада живёт в Москве
        """,
    }.items()
}

SENTENCES = """
Caroline attended a support group and found the stories inspiring.
Melanie has two kids and wants to learn the violin.
Only Ada may open the vault on Mondays.
The invoices are sent to Ada and Bo before the end of the month.
Close the archive at six if it is Friday.
We plan to sell the boat because it needs many repairs.
The pump failed on 2 March 2026 at 3 pm.
All tests in the suite pass on the old server.
The build is slow when the cache is empty.
Call getUser before you write to /var/log/app.log.
Mix cement, sand and water 1:3 in a bucket.
Use at least 5 GB of memory for the index.
The first door on the left is always open.
She moved from Berlin to Hamburg in January.
The meeting takes 3-5 hours and starts at 10 am.
Nobody has the key except the owner of the house.
Ada reports to Bo and likes tea, milk and coffee.
You should restart the server after you edit config.json.
The new version 2.4 is better than the old one.
It costs $20 or 18 euros.
The team can deploy with the --force flag on weekdays.
Joanna works at a museum and usually takes the bus.
The big dog is chasing the small cat over the lawn.
Set max_retries to 3 unless the network is slow.
Most guests are happy with the rooms.
He is not able to come, but she will be there.
Gina loves her job although it is hard.
The parcels are delivered within two weeks.
They don't ship to Norway until summer.
Please add the color of the center to the favorite list.
Jon played the guitar and walked the dog every day.
The light was on during the night.
Nate supports Maria with her studies.
Maria supported Joanna when she was ill.
The children are playing in front of the house.
The old bridge is closed to cars, but people can walk over it.
Some users have both keys.
The report contains 1,200 pages and 3 maps.
We open the shop at 9:30 am, then we water the plants.
If the alarm rings, leave the house and call the police.
Ada has a car, a boat and a bicycle.
Run copy -r data /backup/data when a == b.
Set debug to true in settings.py for the long term.
The information is on the website.
It is very quiet here; the neighbors are away.
The owner is "happy" with 90 percent of the work.
""".strip().split("\n")
