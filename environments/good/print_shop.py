"""Multi-step workflow: each stage of a job needs the stage before it; materials run out and must be ordered."""
import json
import random
from dataclasses import dataclass, field


@dataclass
class Job:
    sheets: int
    paper: str
    stage: str = "draft"
    history: list = field(default_factory=list)


class PrintShopEnv(ToolUseBaseEnv):
    max_turns = 16

    def reset(self, seed=None):
        rng = random.Random(seed)
        papers = ["matt", "gloss", "laid"]
        self._jobs = {f"J{n}": Job(rng.randint(20, 90), rng.choice(papers)) for n in rng.sample(range(10, 99), 3)}
        self._job = rng.choice(sorted(self._jobs))
        job = self._jobs[self._job]
        stock = {paper: rng.randint(100, 200) for paper in papers}
        stock[job.paper] = rng.randint(0, job.sheets - 1)
        self._missing = job.sheets - stock[job.paper]
        self._state = {"stock": stock, "jobs": self._jobs, "ordered": 0}
        name, missing = self._job, self._missing
        self._user_messages = [f"Approve job {name}.", f"Order exactly the paper that job {name} lacks.", f"Print job {name}.", f"Bind job {name}."]
        self._message_criteria = [
            lambda s: s["jobs"][name].stage == "approved",
            lambda s: s["ordered"] == missing and s["stock"][s["jobs"][name].paper] == s["jobs"][name].sheets,
            lambda s: s["jobs"][name].stage == "printed",
            lambda s: s["jobs"][name].stage == "bound" and s["jobs"][name].history == ["approved", "printed", "bound"],
        ]
        job_id = {"job": {"type": "string"}}
        order = {"paper": {"type": "string", "enum": papers}, "sheets": {"type": "integer"}}
        listed = [("show_job", job_id), ("show_stock", {}), ("approve", job_id), ("order_paper", order), ("print_job", job_id), ("bind", job_id), ("cancel", job_id)]
        self._tools = [{"type": "function", "function": {"name": n, "parameters": {"type": "object", "properties": p, "required": list(p)}}} for n, p in listed]
        return self._begin("You run the print shop: a job is approved, then printed, then bound. Printing takes one sheet of paper per sheet of the job.")

    def _advance(self, name, before, after):
        job = self._jobs.get(name)
        if job is None:
            return "error: no such job"
        if job.stage != before:
            return f"error: job {name} is {job.stage}; it must be {before}"
        job.stage = after
        job.history.append(after)
        return f"job {name} is {after}"

    def tool_show_job(self, job):
        found = self._jobs.get(job)
        return {"sheets": found.sheets, "paper": found.paper, "stage": found.stage} if found else "error: no such job"

    def tool_show_stock(self):
        return self._state["stock"]

    def tool_approve(self, job):
        return self._advance(job, "draft", "approved")

    def tool_order_paper(self, paper, sheets):
        if not 0 < sheets <= 500:
            return "error: 1 to 500 sheets"
        self._state["stock"][paper] += sheets
        self._state["ordered"] += sheets
        return self._state["stock"]

    def tool_print_job(self, job):
        found = self._jobs.get(job)
        if found and self._state["stock"][found.paper] < found.sheets:
            return "error: not enough paper"
        said = self._advance(job, "approved", "printed")
        if found and not said.startswith("error"):
            self._state["stock"][found.paper] -= found.sheets
        return said

    def tool_bind(self, job):
        return self._advance(job, "printed", "bound")

    def tool_cancel(self, job):
        return self._advance(job, "draft", "cancelled")

    def solution(self):
        order = {"paper": self._jobs[self._job].paper, "sheets": self._missing}
        steps = [("show_job", {"job": self._job}), ("approve", {"job": self._job}), ("show_stock", {}), ("order_paper", order), ("print_job", {"job": self._job}), ("bind", {"job": self._job})]
        return [f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>" for name, arguments in steps]
