"""The memory's own page: what people look at, and where they take things back.

It is made on the server, from templates, and needs neither a script nor anything from elsewhere. What it says
and decides comes from the rooms below; here is only who may, which page, and how it looks. It comes with
``pip install '.[page]'``.
"""
