import type { Wallet } from "@sotto/wallet";

/** The chain of a wallet, with `ms()` added to the time of its blocks. Together with a clock, it lets time pass. */
export function aheadChain({ chain: source }: Wallet, ms: () => number): Wallet["chain"] {
  const dated = <B extends { timestamp: number }>(block: B): B => ({
    ...block,
    timestamp: block.timestamp + Math.floor(ms() / 1000),
  });
  return {
    chainId: () => source.chainId(),
    head: async () => dated(await source.head()),
    async block(number) {
      const block = await source.block(number);
      return block && dated(block);
    },
    async pending() {
      const block = await source.pending?.();
      return block && dated(block);
    },
    logs: (query) => source.logs(query),
    code: (address) => source.code(address),
    call: (call, block) => source.call(call, block),
  };
}
