// A set of commands that this package does not know: with a command, an error, a way to pay and charges.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { poolInterface } from "@sotto/chain/ethers";
import { type Charges, type Command, type CommandSet, compose } from "@sotto/cli-kit";
import { type PayingMethod, privatePayment } from "@sotto/client";
import {
  decodeShieldedAddress,
  deriveKeys,
  emptyRoots,
  encryptAmount,
  hintOf,
  noteCommitment,
  noteSecrets,
  SottoError,
  TREE_DEPTH,
} from "@sotto/protocol";
import { type ScriptedNode, startScriptedNode } from "@sotto/test-kit/scripted-node";
import { seedFromWords } from "@sotto/wallet";
import type { ChargeEntry } from "@sotto/wallet/receipts";
import { expect } from "chai";
import { id, toBeHex } from "ethers";
import { DEAD_CONFIG, DeadHome } from "./support/run.ts";

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

/** Pays with a password at servers that ask for one. */
const password = (secret: string): PayingMethod => ({
  name: "password",
  headers: ["x-password"],
  open: () => ({
    async payOther(call, { url, body }) {
      const asked = new TextDecoder().decode(await body());
      if (asked !== "say the password") throw new SottoError("PASSWORD_GONE", `no password for "${asked}"`);
      call.tell({ stage: "token", method: "password", resourceUrl: url.href, price: 20_000n });
      return call.send({ name: "x-password", value: secret, url });
    },
  }),
});
const PASSWORDS: CommandSet = {
  name: "passwords",
  groups: [],
  errors: {
    PASSWORD_GONE: { means: "There is no password.", cause: "None was said.", exit: "key", remedy: "ask a friend" },
  },
  methods: [password("open sesame")],
};

const EMPTY_ROOT = emptyRoots()[TREE_DEPTH]!;
/** The views of a pool whose tree is empty. */
const VIEWS = {
  "token()": DEAD_CONFIG.token,
  "smallestDeposit()": 1n,
  "EMPTY_ROOT()": EMPTY_ROOT,
  "root()": EMPTY_ROOT,
};

/** A node with the pool of the wallet. @param answers of further methods */
function startPoolNode(answers: Readonly<Record<string, unknown>> = {}): Promise<ScriptedNode> {
  const words = Object.entries(VIEWS).map(([name, value]) => [id(name).slice(0, 10), toBeHex(value, 32)]);
  return startScriptedNode({
    eth_chainId: "0x7a69",
    eth_getCode: "0x01",
    eth_call: ([{ data }]: [{ data: string }]) => Object.fromEntries(words)[data],
    ...answers,
  });
}

/** A payment of 0.05 USDC to the wallet, in block 1 of a chain with two blocks. */
function startPaidNode(words: string, timestamp: number): Promise<ScriptedNode> {
  const address = deriveKeys(seedFromWords(words), { chainId: 31337n, pool: DEAD_CONFIG.pool }).shieldedAddress();
  const { encryptionKey, ownerTag } = decodeShieldedAddress(address);
  const amount = 50_000n;
  const { R, S } = encryptAmount(encryptionKey, amount, 77n);
  const { blinding, pad } = noteSecrets(S.x, R.x);
  const commitment = noteCommitment({ amount, ownerTag, blinding });
  const delivered = [R.x, 1n, hintOf(pad, amount), 1n, commitment, 1n];
  const log = poolInterface.encodeEventLog("Settled", [5n, id("payment"), ...delivered, 0]);
  const place = { blockNumber: "0x1", blockHash: id("block 1"), transactionHash: id("settled"), logIndex: "0x0" };
  const block = (number: number) => ({
    number: toBeHex(number),
    hash: id(`block ${number}`),
    timestamp: toBeHex(timestamp - 1 + number),
  });
  return startPoolNode({
    eth_getBlockByNumber: ([tag]: [string]) => block(tag === "latest" ? 1 : tag === "pending" ? 2 : Number(tag)),
    eth_getLogs: [{ ...log, address: DEAD_CONFIG.pool, ...place, removed: false }],
  });
}

describe("a set of commands", () => {
  let home: DeadHome;
  before(() => {
    home = new DeadHome();
  });
  const sotto = (sets: readonly CommandSet[], ...args: string[]) => home.run(args, {}, undefined, sets);

  it("adds a command with options and help, listed where the set says", async () => {
    const sets = [quotes("deposit", quote)];
    const { code, stdout } = await sotto(sets, "quote", "today", "usdc/eth", "--exact", "--json");
    expect([code, JSON.parse(stdout)]).to.deep.equal([0, { pair: "usdc/eth", exact: true }]);
    const names = compose(sets).commands.map(({ name }) => name);
    expect(names[names.indexOf("deposit") + 1]).to.equal("quote today");
    expect((await sotto(sets, "--help")).stdout).to.match(/deposit .*\n(?: {4}.*\n)* {2}quote today +Shows a price\./);
    expect((await sotto(sets, "quote", "today", "--help")).stdout)
      .to.include("usage: sotto quote today PAIR [options]")
      .and.include("Prices are made up.");
    expect((await sotto(sets, "qoute")).stderr).to.include("did you mean `sotto quote");
  });

  it("is unknown to a program that does not name it", async () => {
    const { code, stderr } = await sotto([], "quote", "today", "usdc/eth");
    expect(code).to.equal(2);
    expect(stderr).to.match(/^sotto: USAGE: unknown command; `sotto --help.*` lists the commands\n$/);
  });

  describe("with a way to pay", () => {
    let node: ScriptedNode;
    let server: Server;
    let url: string;
    before(async () => {
      // A password needs nothing else of the chain.
      node = await startPoolNode();
      home.write("home/config.json", JSON.stringify({ ...DEAD_CONFIG, rpc: node.url }));
      server = createServer(({ headers, url: path }, response) => {
        const said = headers["x-password"] === "open sesame";
        response.statusCode = said ? 200 : 402;
        response.end(said ? "served" : path === "/" ? "say the password" : "say friend");
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    });
    after(() => {
      node.close();
      server.close();
    });

    it("pays with it, and says so", async () => {
      const { code, stdout, stderr } = await sotto([PASSWORDS], "pay", url, "--max", "1");
      expect([code, stdout, stderr]).to.deep.equal([0, "served", "paid 0.02 USDC: with a password token\n"]);
      const json = await sotto([PASSWORDS], "pay", url, "--max", "1", "--json");
      expect(JSON.parse(json.stdout).payment).to.include({ amount: "20000", transaction: null });
    });

    it("ends with its error's exit code and next step", async () => {
      const args = ["pay", `${url}friend`, "--max", "1"];
      const { code, stderr } = await sotto([PASSWORDS], ...args);
      expect([code, stderr]).to.deep.equal([9, 'sotto: PASSWORD_GONE: no password for "say friend"; ask a friend\n']);
      const other = await sotto([{ ...PASSWORDS, errors: {} }], ...args);
      expect([other.code, other.stderr]).to.deep.equal([1, 'sotto: PASSWORD_GONE: no password for "say friend"\n']);
    });

    it("pays with nothing of it in a program that does not name it", async () => {
      const { code, stdout, stderr } = await sotto([], "pay", url, "--max", "1");
      expect([code, stdout]).to.deep.equal([10, "say the password"]);
      expect(stderr).to.include("HTTP_STATUS");
    });
  });

  describe("with charges", () => {
    const PAID_AT = Date.UTC(2026, 9, 2);
    let node: ScriptedNode;
    before(async () => {
      node = await startPaidNode(home.words, PAID_AT / 1000);
      home.write("home/config.json", JSON.stringify({ ...DEAD_CONFIG, rpc: node.url }));
    });
    after(() => node.close());

    /** A set that charged these base units on these days of October. */
    const charging = (name: string, charges: Readonly<Record<number, bigint>>): CommandSet => {
      const list: Charges = async ({ pool }, decimals) =>
        Object.entries(charges).map(
          ([day, charge]): ChargeEntry => ({
            ...{ kind: "charge", id: `${name} ${day}`, charge, chargeDecimal: `${decimals} decimals` },
            ...{ recipientWallet: pool.token, resource: `https://${name}.example/` },
            begun: new Date(Date.UTC(2026, 9, Number(day))).toISOString(),
          }),
        );
      return { name, groups: [], charges: list };
    };
    const sets = [charging("one", { 1: 7_000n, 4: 1n }), PASSWORDS, charging("other", { 3: 20_000n })];
    const entries = async (of: readonly CommandSet[], ...args: string[]) => {
      const { code, stdout, stderr } = await sotto(of, "payments", ...args, "--json");
      expect(code, stderr).to.equal(0);
      return JSON.parse(stdout) as Record<string, unknown>[];
    };

    it("lists them with those of other sets among the payments, oldest first", async () => {
      const listed = await entries(sets);
      expect(listed.map(({ kind, id, amount, charge }) => [kind, id, amount ?? charge])).to.deep.equal([
        ["charge", "one 1", "7000"],
        ["payment", `${id("settled")}:0`, "50000"],
        ["charge", "other 3", "20000"],
        ["charge", "one 4", "1"],
      ]);
      // The set gets the wallet and the decimals of its token.
      expect(listed[0]).to.include({ recipientWallet: DEAD_CONFIG.token, chargeDecimal: "6 decimals" });
      expect(listed[0]).to.not.have.any.keys("amount", "direction", "state");
    });

    it("lists them as outgoing only", async () => {
      expect((await entries(sets, "--out")).map(({ id }) => id)).to.deep.equal(["one 1", "other 3", "one 4"]);
      expect((await entries(sets, "--in")).map(({ kind }) => kind)).to.deep.equal(["payment"]);
    });

    it("lists none of them in a program that does not name it", async () => {
      expect((await entries([PASSWORDS])).map(({ kind }) => kind)).to.deep.equal(["payment"]);
    });
  });

  describe("that attends to wallets that spend", () => {
    let node: ScriptedNode;
    before(async () => {
      node = await startPaidNode(home.words, Date.UTC(2026, 9, 2) / 1000);
      home.write("home/config.json", JSON.stringify({ ...DEAD_CONFIG, rpc: node.url }));
    });
    after(() => node.close());

    it("cannot hide the command's error or keep the wallet open if its end fails", async () => {
      const ended: string[] = [];
      const attending = (name: string, end: () => Promise<void>): CommandSet => ({
        ...{ name, groups: [] },
        attend: async () => ({
          attachments: [],
          end: async () => {
            ended.push(name);
            await end();
          },
        }),
      });
      const fails = () => Promise.reject(new SottoError("PASSWORD_GONE", "forgotten"));
      const sets = [attending("one", fails), attending("two", async () => undefined)];
      for (let times = 1; times <= 2; times += 1) {
        const { stderr } = await sotto(sets, "merge", "--wait", "0");
        expect(stderr).to.match(/^sotto: FUNDS_NOT_READY/);
        expect(ended).to.deep.equal(Array.from({ length: times }, () => ["one", "two"]).flat());
      }
    });
  });

  it("can list the same way to pay as another set, such as the private payment", () => {
    const [first, second] = [password("mellon"), { ...password("mellon"), name: "other" }];
    const sets = [first, second].map((method) => ({ ...PASSWORDS, methods: [privatePayment, method] }));
    expect(compose(sets).methods).to.deep.equal([privatePayment, first, second]);
  });

  it("is refused if it has what exists already, or is listed after a command that does not exist", async () => {
    const refused = (sets: readonly CommandSet[], message: string) =>
      expect(() => compose(sets)).to.throw(TypeError, message);
    refused([quotes("deposit", { ...quote, name: "deposit" })], "have deposit, which exists already");
    refused([quotes("deposit", quote), quotes("init", quote)], "have quote today, which exists already");
    refused([quotes("deposits", quote)], "listed after deposits");
    refused([PASSWORDS, { ...PASSWORDS, methods: [password("mellon")] }], "two sets of commands pay with password");
    const [USAGE, PASSWORD_GONE] = [1, 2].map((n) => ({ means: `${n}`, cause: "", exit: "funds" }) as const);
    refused([{ ...PASSWORDS, errors: { USAGE: USAGE! } }], "define USAGE, which is defined otherwise already");
    refused([PASSWORDS, { name: "x", groups: [], errors: { PASSWORD_GONE: PASSWORD_GONE! } }], "define PASSWORD_GONE");
    expect(compose([PASSWORDS, { ...PASSWORDS, methods: [] }]).commands, "the control").to.deep.equal(
      compose([]).commands,
    );
    expect(await sotto([quotes("deposits", quote)], "address")).to.include({ code: 1, stdout: "" });
  });
});
