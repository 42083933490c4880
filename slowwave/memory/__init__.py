"""Python API of the memory: save, search, get, forget.

```python
import slowwave

memory = slowwave.open("~/assistant", namespace="default")
memory.save("We deploy on Thursday since 2 March; Friday is for repairs only.", title="Deploy day")
for result in memory.search("when do we deploy?"):
    print(result.score, result.title, result.text)
```

The class has layers, a file per concern. Each call delegates to the package that does the work.
"""

from slowwave.memory.curating import Memory
from slowwave.memory.opening import open_memory

__all__ = ["Memory", "open_memory"]
