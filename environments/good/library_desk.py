"""Data retrieval: look up a borrower's overdue books through three tools and add up the fees."""
import json
import random


def schema(name, description, properties, required):
    return {"type": "function", "function": {"name": name, "description": description, "parameters": {"type": "object", "properties": properties, "required": required}}}


class LibraryDeskEnv(ToolUseBaseEnv):
    max_turns = 14

    def reset(self, seed=None):
        rng = random.Random(seed)
        people = rng.sample(["Amal", "Bodil", "Chen", "Dario", "Esra", "Femke"], 4)
        cards = [f"C{n}" for n in rng.sample(range(100, 999), 4)]
        books = {f"B{n}": rng.randint(0, 9) for n in rng.sample(range(1000, 9999), 10)}
        loans = {card: [] for card in cards}
        for book in books:
            loans[rng.choice(cards)].append(book)
        who = rng.choice([i for i in range(4) if any(books[b] for b in loans[cards[i]])])
        rate = rng.randint(2, 7)
        self._state = {"cards": dict(zip(people, cards)), "loans": loans, "late": books, "reserved": []}
        self._wanted, self._card = people[who], cards[who]
        self._expected_answer = str(rate * sum(books[b] for b in loans[self._card]))
        self._tools = [
            schema("find_card", "Library card of a borrower", {"borrower": {"type": "string"}}, ["borrower"]),
            schema("list_loans", "Books lent on a card", {"card": {"type": "string"}}, ["card"]),
            schema("days_overdue", "Days a book is overdue", {"book": {"type": "string"}}, ["book"]),
            schema("reserve_book", "Reserves a book", {"book": {"type": "string"}, "card": {"type": "string"}}, ["book", "card"]),
        ]
        return self._begin(f"At the library desk the fee is {rate} cents per overdue day and book. How many cents does {self._wanted} owe? Reply with the number.")

    def tool_find_card(self, borrower):
        return self._state["cards"].get(borrower, "no such borrower")

    def tool_list_loans(self, card):
        return self._state["loans"].get(card, "no such card")

    def tool_days_overdue(self, book):
        return self._state["late"].get(book, "no such book")

    def tool_reserve_book(self, book, card):
        self._state["reserved"].append([book, card])
        return "reserved"

    def solution(self):
        def call(name, **arguments):
            return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"

        looks = [call("days_overdue", book=book) for book in self._state["loans"][self._card]]
        return [call("find_card", borrower=self._wanted), call("list_loans", card=self._card), *looks, f"<answer>{self._expected_answer}</answer>"]
