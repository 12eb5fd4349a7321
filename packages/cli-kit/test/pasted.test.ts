// Arguments are pasted from chats and contacts, with invisible characters around them.
import { deriveKeys } from "@sotto/protocol";
import { expect } from "chai";
import { EXIT } from "../src/frame/exit.ts";
import { DEAD_CONFIG, DeadHome } from "./support/run.ts";

const ACCOUNT = `0x${"56".repeat(20)}`;
const SHIELDED = deriveKeys(new Uint8Array(32).fill(7), { chainId: 1n, pool: DEAD_CONFIG.pool }).shieldedAddress();
const AROUND = [
  ["", ""],
  ["\u202a", "\u202c"],
  ["\u2068", "\u2069\u00a0"],
  ["\ufeff", "\u200b\n"],
] as const;

describe("pasted arguments", () => {
  let home: DeadHome;
  before(() => {
    home = new DeadHome();
  });

  for (const [before, after] of AROUND) {
    const paste = (text: string) => `${before}${text}${after}`;
    const asks = async (args: readonly string[], question: string) => {
      const { code, stderr } = await home.run(args, {}, ["n"]);
      expect(stderr).to.contain(question);
      expect(code).to.not.equal(EXIT.usage.code);
    };
    it(`are used without ${JSON.stringify(paste("\u2026"))} around them`, async () => {
      await asks(["withdraw", "1", "--to", paste(ACCOUNT)], `to ${ACCOUNT}?`);
      await asks(["send", paste("1"), "--to", paste(SHIELDED)], `pay 1 USDC to ${SHIELDED}?`);
      await asks(["send", "1", "--to", paste("+1 (415) 555\u20110100")], "pay 1 USDC to +14155550100?");
      const receipt = home.write("receipt.json", paste("{}"));
      expect((await home.run(["receipt", "check", receipt])).stderr).to.not.contain("is not JSON");
      const { stderr } = await home.run(["pay", paste("http://127.0.0.1:9/"), "--max", "1"]);
      expect(stderr).to.contain("127.0.0.1:9").and.not.contain("USAGE");
    });
  }

  for (const [mark, name] of [
    ["\u200b", "U+200B (zero width space)"],
    ["\u202e", "U+202E (right-to-left override)"],
    ["\u00ad", "U+00AD (soft hyphen)"],
  ] as const)
    it(`are refused with ${name} among their characters`, async () => {
      const broken = (text: string) => text.slice(0, 20) + mark + text.slice(20);
      for (const args of [
        ["withdraw", "1", "--yes", "--to", broken(ACCOUNT)],
        ["send", "1", "--yes", "--to", broken(SHIELDED)],
        ["pay", broken("http://127.0.0.1:9/a/report"), "--max", "1"],
      ]) {
        const { code, stderr } = await home.run(args);
        expect(code, stderr).to.equal(EXIT.usage.code);
        expect(stderr).to.contain(name).and.contain("character 21");
      }
    });

  it("are refused if a look-alike replaces a character", async () => {
    for (const text of [ACCOUNT.replace("x", "\u0445"), ACCOUNT.replace("5", "\uff15"), ACCOUNT.replace("5", "\u0665")])
      expect((await home.run(["withdraw", "1", "--yes", "--to", text])).code).to.equal(EXIT.usage.code);
    expect((await home.run(["withdraw", "1", "--yes", "--to", ACCOUNT])).code).to.not.equal(EXIT.usage.code);
  });
});
