// The next steps in error messages, as commands that the user can type.
import { PurchaseError } from "@sotto/client";
import type { SottoError } from "@sotto/protocol";
import { WalletError } from "@sotto/wallet";
import { expect } from "chai";
import { COMMAND_ERRORS } from "../src/error-definitions.ts";
import { explain } from "../src/explain.ts";
import { CliError } from "../src/frame/errors.ts";
import { nearest } from "../src/frame/nearest.ts";
import { asTypedHere } from "../src/frame/typed-command.ts";
import type { Config } from "../src/home/config.ts";
import { DEAD_CONFIG, DeadHome } from "./support/run.ts";

const config: Config = { ...DEAD_CONFIG, chainId: 31337n, artifacts: undefined, limits: {} };
const BASE = { ...config, chainId: 8453n };
const NPM = { npm_lifecycle_event: "sotto", npm_config_user_agent: "npm/10.9.2 node/v24.21.0 linux x64" };
const PNPM = { ...NPM, npm_config_user_agent: "pnpm/12.21.0 npm/? node/v24.21.0 linux x64" };

describe("hints", () => {
  let home: DeadHome;
  before(() => {
    home = new DeadHome();
  });

  describe("of errors", () => {
    const said = (error: SottoError, place = config) => (explain(error, place, COMMAND_ERRORS) as SottoError).message;
    const without = new WalletError(
      "INSUFFICIENT_FUNDS",
      "50000 base units are needed, but the wallet holds 0 base units; deposit 50000 base units more",
    );

    it("give amounts in the token's unit, and the command to run next", () => {
      expect(said(without)).to.equal(
        "0.05 USDC are needed, but the wallet holds 0 USDC; deposit 0.05 USDC more; " +
          "`sotto deposit AMOUNT --mint` deposits test tokens",
      );
      expect(said(without, BASE)).to.match(/; `sotto deposit AMOUNT` deposits tokens$/);
      const tokens = new WalletError("INSUFFICIENT_TOKENS", "0x12 holds 1 base units");
      expect(said(tokens)).to.equal("0x12 holds 0.000001 USDC; mint test tokens with --mint");
      expect(said(tokens, BASE)).to.match(/; send tokens to the account first$/);
    });

    it("name the option that raises a limit", () => {
      for (const [code, option] of [
        ["REQUEST_LIMIT_EXCEEDED", "--max"],
        ["DAY_LIMIT_EXCEEDED", "--max-day"],
        ["HOST_LIMIT_EXCEEDED", "--max-host"],
        ["HOUR_LIMIT_EXCEEDED", "`sotto limits --max-hour AMOUNT`"],
        ["TOOL_LIMIT_EXCEEDED", "`sotto limits --max-tool TOOL=AMOUNT`"],
      ] as const)
        expect(said(new PurchaseError(code, "too much"))).to.match(
          new RegExp(`^too much; raise it with ${option}(?!-)`),
        );
    });

    it("keep code, details and cause, and do not change the program's own errors", () => {
      const error = new PurchaseError("FUNDS_TIMED_OUT", "5000000 base units wait", { cause: "NO_BLOCKS" });
      const explained = explain(error, config, COMMAND_ERRORS) as SottoError;
      expect(explained).to.include({ code: "FUNDS_TIMED_OUT", cause: error });
      expect(explained.details).to.deep.equal({ cause: "NO_BLOCKS" });
      expect(explained.message).to.equal("5 USDC wait; set it with `sotto init --update --finality 0`");
      expect(said(error, BASE)).to.equal("5 USDC wait");
      const own = new CliError("USAGE", "7 base units");
      expect([own, undefined].map((each) => explain(each, config, COMMAND_ERRORS))).to.deep.equal([own, undefined]);
    });
  });

  it("name commands as the user types them", async () => {
    const hint = "`sotto init` or `npm run deploy:local`";
    expect(asTypedHere(hint, {})).to.equal(hint);
    expect(asTypedHere(hint, { ...NPM, npm_lifecycle_event: "test" })).to.equal(hint);
    expect(asTypedHere(hint, NPM)).to.equal("`npm run -s sotto -- init` or `npm run deploy:local`");
    expect(asTypedHere(hint, PNPM)).to.equal("`pnpm -s sotto init` or `pnpm deploy:local`");
    for (const [home, typed] of [
      [["--home", "/tmp/w-1"], "/tmp/w-1"],
      [["--home=a b"], "'a b'"],
      [["--home", "it's"], "'it'\\''s'"],
    ] as const)
      expect(asTypedHere("`sotto init`", {}, ["balance", ...home])).to.equal(`\`sotto init --home ${typed}\``);
    for (const [environment, command] of [
      [{}, "sotto init"],
      [NPM, "npm run -s sotto -- init"],
      [PNPM, "pnpm -s sotto init"],
    ] as const) {
      home.empty();
      const missing = await home.run(["balance"], environment);
      expect(missing.stderr).to.include(`; create one with \`${command} --home ${home.home}\``);
      const json = await home.run(["balance", "--json"], environment);
      expect(JSON.parse(json.stderr).error.message).to.include(`\`${command} --home ${home.home}\``);
      home = new DeadHome();
    }
  });

  it("suggest the command or option that the user meant", async () => {
    expect(
      ["pya", "depsoit", "balanse", "recieve", "restor"].map((word) =>
        nearest(word, ["pay", "deposit", "balance", "receive", "restore"]),
      ),
    ).to.deep.equal(["pay", "deposit", "balance", "receive", "restore"]);
    expect(nearest("x".repeat(60_000), ["pay"])).to.equal(undefined);
    const cases = [
      [["balanse"], "USAGE: unknown command; did you mean `sotto balance`?"],
      [["reciept", "check", "x"], "USAGE: unknown command; did you mean `sotto receipt check`?"],
      [["wihdraw", "5"], "USAGE: unknown command; did you mean `sotto withdraw`?"],
      [["qqqqqqqq"], "USAGE: unknown command; `sotto --help` lists the commands"],
      [["deposit", "1", "--notse", "2"], "USAGE: unknown option; did you mean --notes?"],
      [["deposit", "1", "--qqqqqq"], "USAGE: unknown option; --help lists the options"],
    ] as const;
    for (const [args, line] of cases) {
      const { stderr } = await home.run(args);
      expect(stderr.replace(` --home ${home.home}`, "")).to.equal(`sotto: ${line}\n`);
    }
  });

  it("explain how to create a pool", async () => {
    home.empty();
    const before = process.cwd();
    process.chdir(home.folder);
    const { code, stderr } = await home.run(["init"], NPM).finally(() => process.chdir(before));
    expect(code).to.equal(2);
    expect(stderr).to.equal(
      "sotto: USAGE: there is no .sotto/deployment.json in this folder: create a pool on a local chain with " +
        "`npm run deploy:local`, or choose another pool with --deployment FILE, its manifest\n",
    );
    home = new DeadHome();
  });
});
