"""The memory that an application imports: save, search, get, forget.

```python
import slowwave

memory = slowwave.open("~/assistant", namespace="default")
memory.save("We deploy on Thursday since 2 March; Friday is for repairs only.", title="Deploy day")
for result in memory.search("when do we deploy?"):
    print(result.score, result.title, result.text)
```

The class is made in layers, a file per concern; each call hands on to the room that does the work.
"""

from slowwave.memory.curating import Memory, open_memory

__all__ = ["Memory", "open_memory"]
