import type { Block, ChainSource, Log } from "@sotto/chain";

/** A node whose responses can be edited. It records all requests. */
export class RecordingNode {
  readonly asked: string[] = [];
  readonly source: ChainSource;

  constructor(chain: ChainSource, edit: (log: Log) => Log = (log) => log, header = (block: Block) => block) {
    const note = (...question: unknown[]) => this.asked.push(question.join(" "));
    this.source = {
      chainId: () => {
        note("chainId");
        return chain.chainId();
      },
      head: () => {
        note("head");
        return chain.head();
      },
      block: async (number) => {
        note("block", number);
        const block = await chain.block(number);
        return block && header(block);
      },
      logs: async ({ address, from, to }) => {
        note("logs", address, from, to);
        return (await chain.logs({ address, from, to })).map(edit);
      },
      code: (address) => {
        note("code", address);
        return chain.code(address);
      },
      call: (question, block) => {
        note("call", JSON.stringify(question), block);
        return chain.call(question, block);
      },
    };
  }
}
