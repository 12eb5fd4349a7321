/**
 * The way a source with several nodes uses them: each action goes to the first node that is not at fault and whose answer
 * is accepted. If none is, an error wins over an answer.
 */
export function firstOf<Node>(nodes: readonly Node[], isFault: (error: unknown) => boolean) {
  return async <Answer>(
    action: (node: Node) => Promise<Answer>,
    accept: (answer: Answer) => boolean = () => true,
  ): Promise<Answer> => {
    let last: { answer: Answer } | undefined;
    let fault: unknown;
    for (const node of nodes)
      try {
        const answer = await action(node);
        if (accept(answer)) return answer;
        last = { answer };
      } catch (error) {
        if (!isFault(error)) throw error;
        fault = error;
      }
    if (fault !== undefined || last === undefined) throw fault;
    return last.answer;
  };
}
