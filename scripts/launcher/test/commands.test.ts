// Commands of the checkout reject unknown names and options before they start. The error has a code, the
// received value and the expected values.

import { command, expectRefused } from "@sotto/test-kit/command";
import { slow } from "@sotto/test-kit/slow";

describe("unknown arguments", function () {
  slow(this, "processes start and end");
  const cases: [script: string, args: string[], code: string, ...texts: string[]][] = [
    ["packages/bench/src/main.ts", ["nonsense"], "BENCH_UNKNOWN", "nonsense", "constraints", "gas"],
    ["packages/bench/src/main.ts", ["constraints", "nonsense"], "BENCH_UNKNOWN", "nonsense"],
    ["packages/keys/src/circuits/compile.ts", ["nonsense"], "CIRCUIT_UNKNOWN", "nonsense", "payment"],
    ["packages/keys/src/setup/dev.ts", ["nonsense"], "CIRCUIT_UNKNOWN", "nonsense", "payment"],
    ["scripts/generate/sources.ts", ["--nonsense"], "UNKNOWN_OPTION", "--nonsense", "--check"],
    ["scripts/mutation/main.ts", ["nonsense"], "GROUP_UNKNOWN", "nonsense", "payment.nullifier"],
    ["packages/local/src/chain/deploy.ts", ["--nonsense", "1"], "UNKNOWN_OPTION", "--nonsense", "--url"],
  ];
  for (const [script, args, code, ...texts] of cases)
    it(`${script} ${args.join(" ")}`, async () => expectRefused(await command(script, args), code, ...texts));
});
