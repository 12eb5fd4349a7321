import { PassThrough } from "node:stream";
import { expect } from "chai";
import type { Command, CommandSet } from "../src/command.ts";
import { COMMANDS } from "../src/commands/index.ts";
import { compose } from "../src/compose.ts";
import { run } from "../src/run.ts";
import { SETS } from "../src/sets.ts";

const quote: Command = {
  name: "quote today",
  summary: "Shows a price.",
  positionals: ["PAIR"],
  options: { exact: { help: "all digits" } },
  details: ["Prices are made up."],
  run: async ({ args }) => ({ json: { pair: args.positional(0, "PAIR"), exact: args.flag("exact") }, text: ["1.00"] }),
};
const quotes = (after: string, ...commands: readonly Command[]): CommandSet => ({
  name: "quotes",
  groups: [{ after, commands }],
});

describe("a set of commands", () => {
  async function sotto(args: readonly string[], sets?: readonly CommandSet[]) {
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    stdin.end();
    const streams = { stdin, stdout, stderr, terminal: false };
    const code = await run(args, { streams, environment: {}, signal: new AbortController().signal, sets });
    return { code, stdout: String(stdout.read() ?? ""), stderr: String(stderr.read() ?? "") };
  }

  it("adds a command with options and help, listed where the set says", async () => {
    const sets = [quotes("deposit", quote)];
    const { code, stdout } = await sotto(["quote", "today", "usdc/eth", "--exact", "--json"], sets);
    expect([code, JSON.parse(stdout)]).to.deep.equal([0, { pair: "usdc/eth", exact: true }]);
    const names = compose(COMMANDS, sets).map(({ name }) => name);
    expect(names[names.indexOf("deposit") + 1]).to.equal("quote today");
    expect((await sotto(["--help"], sets)).stdout).to.match(
      /deposit .*\n(?: {4}.*\n)* {2}quote today +Shows a price\./,
    );
    expect((await sotto(["quote", "today", "--help"], sets)).stdout)
      .to.include("usage: sotto quote today PAIR [options]")
      .and.include("Prices are made up.");
    expect((await sotto(["qoute"], sets)).stderr).to.include("did you mean `sotto quote`?");
  });

  it("is unknown to a program that does not name it", async () => {
    const { code, stderr } = await sotto(["quote", "today", "usdc/eth"]);
    expect([code, stderr]).to.deep.equal([2, "sotto: USAGE: unknown command; `sotto --help` lists the commands\n"]);
  });

  it("is refused if it has a command that exists, or is listed after one that does not", () => {
    const taken = { ...quote, name: "deposit" };
    expect(() => compose(COMMANDS, [quotes("deposit", taken)])).to.throw(
      TypeError,
      "have deposit, which exists already",
    );
    const twice = [quotes("deposit", quote), quotes("init", quote)];
    expect(() => compose(COMMANDS, twice)).to.throw(TypeError, "have quote today, which exists already");
    expect(() => compose(COMMANDS, [quotes("deposits", quote)])).to.throw(TypeError, "listed after deposits");
    expect(compose(COMMANDS, SETS)).to.have.length.greaterThan(COMMANDS.length);
  });
});
