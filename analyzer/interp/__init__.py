"""The abstract interpreter: what a function does with the markers of the carriers it handles, path by path.

Structured and disjunctive: a state per set of tested conditions that matters, joined where nothing differs. A
choice inside an expression (a `?:`, a callee with several outcomes) is explored by running the statement again
with the choices prescribed. Callees are applied by their summaries, so a constructor, a helper that carries
markers, a predicate or a check is known by what its body does and never by its name; where there is no body, by
its signature.

One class in parts: the class of each module extends those that it uses, down to `run`, which declares the two
methods that are needed below where they are defined.

    run             what is known of the function being run
    obligations     what a path owes for each marker, and what acquits it
    states          choices explored, states joined
    buffers         raw bytes read, written and copied; carriers handed away
    conditions      tests, and what their outcomes teach
    stores          assignments
    externals       callees without a body
    calls           constructors, and callees applied by their summaries (in `binding`'s terms)
    expressions     values
    statements      control flow
    runner          one function, and the lambdas in it
    driver          all functions of a program
    share           some of them in other processes
"""

from analyzer.interp.driver import interpret, running

__all__ = ["interpret", "running"]
