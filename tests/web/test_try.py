def test_all(site, person, saved):
    one = saved("We deploy on Thursday since 2 March; Friday is for repairs only.", title="Deploy <b>day</b>")
    for path in (
        "/",
        "/?q=when+do+we+deploy",
        "/lately",
        "/decisions",
        "/quarantine",
        "/learning",
        "/trend",
        "/judge",
        f"/memory/{one}",
        f"/memory/{one}/erase",
        "/namespaces",
    ):
        print(path, len(person.text(path)), person.words(path)[:1500])
