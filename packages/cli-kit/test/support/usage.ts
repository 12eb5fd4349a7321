// What every command refuses, for the tests of a set of commands.
import { type Command, EXIT } from "@sotto/cli-kit";
import { expect } from "chai";
import type { DeadHome } from "./run.ts";

/** Values that each kind of option rejects. */
export const BAD = {
  amounts: ["x", "0", "-1", "1e3", "0.0000001", "1,5", "99999999999999999999", "0x10"],
  counts: ["x", "-1", "1.5", "1e2", "99999999999999999999"],
  addresses: ["0x12", "hello", `0x${"zz".repeat(20)}`, `0xA${"b".repeat(39)}`],
  urls: ["x", "ftp://data.example/", "http://user:word@data.example/", "http://", `http://${"x".repeat(3000)}`],
  files: ["/nowhere/at/all"],
} as const;

/** Values that options of several sets reject, by option. */
export const BAD_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  key: [],
  keystore: [],
  max: BAD.amounts,
  "max-day": BAD.amounts,
  "max-host": [
    ...BAD.amounts,
    "http://a.example=1",
    "a.example:80=1",
    "a b=1",
    "*.a.example=0",
    "a<b=1",
    "=1",
    "a.example=x",
    "a.example=-1",
  ],
  "max-hour": BAD.amounts,
  "max-tool": ["1", "balance=1", "=1", "fetch_paid=", "fetch_paid=x", "FETCH_PAID=1", "fetch_paid=0.0000001"],
  out: [],
  output: [],
  registry: BAD.urls,
  service: BAD.urls,
  wallet: BAD.addresses,
};

/** @returns what the command wrote to standard error */
export async function refuses(
  home: DeadHome,
  args: readonly string[],
  code: number = EXIT.usage.code,
): Promise<string> {
  const ended = await home.run(args);
  expect(ended.code, `sotto ${args.join(" ")}: ${ended.stderr}`).to.equal(code);
  expect(ended.stdout).to.equal("");
  expect(ended.stderr).to.match(/^sotto: [A-Z_]+: [^\n]+\n$/);
  return ended.stderr;
}

/** What the commands are tested with. */
export interface UsageOptions {
  readonly home: () => DeadHome;
  /** Values that each option rejects. */
  readonly bad: Readonly<Record<string, readonly string[]>>;
  /** Otherwise valid arguments by command, so that only the tested option is wrong. FILE is a file that exists. */
  readonly valid: Readonly<Record<string, readonly string[]>>;
}

/** Defines the tests of each command's options and arguments. */
export function describeUsage(commands: readonly Command[], { home, bad, valid }: UsageOptions): void {
  let file: string;
  before(() => {
    file = home().write("some.json", "{}");
  });

  const argumentsOf = (name: string, option?: string): string[] => {
    const args = (valid[name] ?? []).map((arg) => (arg === "FILE" ? file : arg));
    const at = option === undefined ? -1 : args.indexOf(`--${option}`);
    return [...name.split(" "), ...(at < 0 ? args : [...args.slice(0, at), ...args.slice(at + 2)])];
  };

  for (const { name, options, positionals } of commands)
    describe(`of ${name}`, () => {
      for (const [option, { value }] of Object.entries(options))
        if (value !== undefined)
          it(`--${option} accepts only ${value}`, async () => {
            expect(bad, `values that --${option} refuses`).to.have.property(option);
            for (const wrong of bad[option]!)
              await refuses(home(), [...argumentsOf(name, option), `--${option}=${wrong}`]);
            if (!option.startsWith("max") && option !== "header")
              await refuses(home(), [...argumentsOf(name, option), `--${option}=`]);
            await refuses(home(), [...argumentsOf(name, option), `--${option}`]);
          });

      it("names exactly its options in --help", async () => {
        const { code, stdout } = await home().run([...name.split(" "), "--help"]);
        expect(code).to.equal(0);
        for (const option of Object.keys(options)) expect(stdout).to.include(`--${option}`);
        expect(stdout.split("\n").filter((line) => line.length > 80)).to.deep.equal([]);
        await refuses(home(), [...argumentsOf(name), "--nothing-like-that"]);
        await refuses(home(), [...argumentsOf(name), ...positionals.map(() => "x"), "x", "x"]);
      });

      if (positionals.some((positional) => !positional.startsWith("[")))
        it("requires its arguments", async () => {
          await refuses(home(), name.split(" "));
        });
    });
}
