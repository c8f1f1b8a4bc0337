interface QuestionsOptions {
  readonly answerTimeMaxMs: number;
  /** What a question without an answer rejects with. */
  readonly failure: string;
}

interface Questions<Answer> {
  /** Rejects when the other process does not answer in time. */
  ask(send: (id: number) => void): Promise<Answer>;
  noteAnswer(id: number, answer: Answer): void;
  /** Rejects all open questions, because the other process is gone. */
  end(): void;
}

interface OpenQuestion<Answer> {
  readonly answer: (answer: Answer) => void;
  readonly fail: () => void;
}

/** The questions of one process to another. An answer has the id of its question. */
export function createQuestions<Answer>(options: QuestionsOptions): Questions<Answer> {
  const { answerTimeMaxMs, failure } = options;
  const open = new Map<number, OpenQuestion<Answer>>();
  let lastId = 0;
  return {
    ask(send) {
      lastId += 1;
      const id = lastId;
      let timer: NodeJS.Timeout | undefined;
      const answered = new Promise<Answer>((resolve, reject) => {
        const fail = () => reject(new Error(failure));
        timer = setTimeout(fail, answerTimeMaxMs);
        open.set(id, { answer: resolve, fail });
        send(id);
      });
      return answered.finally(() => {
        clearTimeout(timer);
        open.delete(id);
      });
    },
    noteAnswer: (id, answer) => open.get(id)?.answer(answer),
    end() {
      for (const { fail } of open.values()) fail();
    },
  };
}
