import { constants, createPrivateKey, createPublicKey, privateDecrypt, verify } from "node:crypto";
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { clearOfMidnight } from "@sotto/test-kit/clock";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { Wallet as Account, Signature } from "ethers";
import { DeadHome, type Ended } from "../../../cli-kit/test/support/run.ts";
import { prepaidCommands } from "../../src/cli.ts";
import {
  decodePrepaidKeyFile,
  decodeSchedule,
  decodeSignedSchedule,
  encodeRsaKey,
  epochOf,
  laterEpoch,
  PREPAID_KEY_BYTES,
  type PrepaidKeyFile,
  type PrepaidSchedule,
  prepaidTokenInput,
  preparePrepaidPack,
  scheduledKeys,
  verifyScheduleSignature,
} from "../../src/index.ts";

const ORIGIN = "https://data.example";
/** The public test account of a local chain. */
const LOCAL_ACCOUNT = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";

describe("sotto prepaid keys", function () {
  slow(this, "generates RSA keys");
  let home: DeadHome;
  let now: string;
  let made: string;
  let created: Ended;
  before(async () => {
    // The default month must not change during the tests.
    await clearOfMidnight();
    now = epochOf(Date.now());
    home = new DeadHome([prepaidCommands]);
    made = join(home.folder, "made");
    created = await keys("--origin", ORIGIN, "--values", "500,100", "--epochs", "2", "--out", made, "--verbose");
    expect(created.stderr, created.stderr).to.include("generating keys: 4 of 4");
  });

  const keys = (...args: string[]) => home.run(["prepaid", "keys", "--json", ...args]);
  const sign = (...args: string[]) => home.run(["prepaid", "sign", "--json", ...args]);
  const read = (path: string): Record<string, unknown> => JSON.parse(readFileSync(path, "utf8"));
  const keysIn = (folder: string): PrepaidKeyFile => decodePrepaidKeyFile(read(join(folder, "keys.json")));
  const scheduleIn = (folder: string): PrepaidSchedule =>
    decodeSchedule(read(join(folder, "schedule.json"))["schedule"]);
  const codeOf = ({ code, stderr }: Ended) => [code, JSON.parse(stderr.trim().split("\n").at(-1)!).error.code];
  const cellsOf = (entries: readonly { readonly epoch: string; readonly value: bigint }[]) =>
    entries.map(({ epoch, value }) => `${epoch} ${value}`).sort();

  it("writes a secret file of keys and the schedule of their public keys", () => {
    expect(JSON.parse(created.stdout)).to.deep.equal({
      keys: join(made, "keys.json"),
      schedule: join(made, "schedule.json"),
      wallet: LOCAL_ACCOUNT,
      origin: ORIGIN,
      firstEpoch: now,
      epochs: 2,
      values: [
        { amount: "100", decimal: "0.0001" },
        { amount: "500", decimal: "0.0005" },
      ],
    });
    expect(readdirSync(made).sort()).to.deep.equal(["keys.json", "schedule.json"]);
    expect(statSync(made).mode & 0o777).to.equal(0o700);
    expect(statSync(join(made, "keys.json")).mode & 0o777).to.equal(0o600);
    const schedule = scheduleIn(made);
    expect(schedule).to.deep.include({ wallet: LOCAL_ACCOUNT, chainId: 31337n, origin: ORIGIN, values: [100n, 500n] });
    expect(cellsOf(scheduledKeys(schedule))).to.deep.equal(cellsOf(keysIn(made).keys));
  });

  it("shows no part of a private key", () => {
    const lines = keysIn(made).keys.flatMap(({ privateKey }) => privateKey.split("\n"));
    const secrets = lines.filter((line) => /^[A-Za-z0-9+/=]+$/.test(line));
    expect(secrets.length).to.be.above(80);
    const shown = created.stdout + created.stderr + readFileSync(join(made, "schedule.json"), "utf8");
    expect(secrets.filter((secret) => shown.includes(secret))).to.deep.equal([]);
    expect(shown).to.not.include("PRIVATE");
  });

  it("makes keys that sign blind messages, and whose tokens Node verifies", () => {
    for (const { epoch, value, key } of scheduledKeys(scheduleIn(made))) {
      const pem = keysIn(made).keys.find((each) => each.epoch === epoch && each.value === value)!.privateKey;
      const privateKey = createPrivateKey(pem);
      expect(privateKey.asymmetricKeyType).to.equal("rsa");
      expect(privateKey.asymmetricKeyDetails).to.deep.equal({ modulusLength: 2048, publicExponent: 65537n });
      const pack = preparePrepaidPack(new Uint8Array(32).fill(7), key, ORIGIN, 2);
      const raw = [0, 1].map((i) =>
        privateDecrypt(
          { key: privateKey, padding: constants.RSA_NO_PADDING },
          pack.request.subarray(i * PREPAID_KEY_BYTES, (i + 1) * PREPAID_KEY_BYTES),
        ),
      );
      const padding = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 48 };
      const spki = createPublicKey({ key: Buffer.from(encodeRsaKey(key.modulus)), format: "der", type: "spki" });
      for (const token of pack.finish(new Uint8Array(Buffer.concat(raw))))
        expect(verify("sha384", prepaidTokenInput(token), { key: spki, ...padding }, token.signature)).to.equal(true);
    }
  });

  it("never replaces keys or a schedule", async () => {
    const before = readdirSync(made).map((name) => readFileSync(join(made, name), "utf8"));
    const again = ["--origin", ORIGIN, "--values", "100,500", "--epochs", "2", "--out", made];
    expect(codeOf(await keys(...again))).to.deep.equal([2, "FILE_EXISTS"]);
    expect(readdirSync(made).map((name) => readFileSync(join(made, name), "utf8"))).to.deep.equal(before);
  });

  it("finishes an interrupted command with the keys that exist, and refuses to finish a different command", async () => {
    const path = join(made, "schedule.json");
    const before = [readFileSync(path, "utf8"), readFileSync(join(made, "keys.json"), "utf8")];
    // kill -9 after keys.json was written.
    rmSync(path);
    for (const other of [
      ["--origin", ORIGIN, "--values", "1000", "--epochs", "2"],
      ["--origin", ORIGIN, "--values", "100", "--epochs", "3"],
      ["--origin", "https://other.example", "--values", "100", "--epochs", "2"],
    ])
      expect(codeOf(await keys(...other, "--out", made))).to.deep.equal([2, "FILE_EXISTS"]);
    expect(existsSync(path)).to.equal(false);
    const again = ["--origin", ORIGIN, "--values", "100,500", "--epochs", "2", "--out", made];
    expect((await keys(...again)).code).to.equal(0);
    expect([readFileSync(path, "utf8"), readFileSync(join(made, "keys.json"), "utf8")]).to.deep.equal(before);
  });

  it("adds later months and new values, and never a second key", async () => {
    const [values, months] = [join(home.folder, "values"), join(home.folder, "months")];
    expect((await keys("--extend", made, "--values", "1000", "--epochs", "2", "--out", values)).code).to.equal(0);
    const added = scheduleIn(values);
    expect(cellsOf(scheduledKeys(added))).to.deep.equal([`${now} 1000`, `${laterEpoch(now, 1)} 1000`]);
    expect(cellsOf(keysIn(values).keys)).to.deep.equal(cellsOf([...keysIn(made).keys, ...scheduledKeys(added)]));
    expect(keysIn(values).keys).to.deep.include.members([...keysIn(made).keys]);
    // Without options: the same values, from the first month without keys.
    expect((await keys("--extend", values, "--epochs", "1", "--out", months)).code).to.equal(0);
    expect(scheduleIn(months)).to.deep.include({ firstEpoch: laterEpoch(now, 2), values: [100n, 500n, 1000n] });
    expect(keysIn(months).keys).to.have.length(9);
    const second = join(home.folder, "second");
    for (const twice of ["500", "500,2000", "2000,1000"]) {
      const ended = await keys("--extend", values, "--values", twice, "--from", now, "--epochs", "1", "--out", second);
      expect(codeOf(ended), twice).to.deep.equal([2, "USAGE"]);
    }
    // The values end in different months.
    expect(codeOf(await keys("--extend", values, "--values", "100,2000", "--out", second))).to.deep.equal([2, "USAGE"]);
    expect(codeOf(await keys("--extend", made, "--origin", "https://other.example", "--out", second))[0]).to.equal(2);
    const many = "1,2,5,10,20,50,1000,2000,5000,10000,20000";
    expect(codeOf(await keys("--extend", made, "--values", many, "--out", second))).to.deep.equal([2, "USAGE"]);
    const other = Account.createRandom().address;
    expect(codeOf(await keys("--extend", made, "--wallet", other, "--out", second))).to.deep.equal([3, "REFUSED"]);
    expect(existsSync(second)).to.equal(false);
  });

  it("does not copy keys of past months when it adds keys", async () => {
    const [old, added] = [join(home.folder, "old"), join(home.folder, "added")];
    await keys("--origin", ORIGIN, "--values", "100", "--epochs", "1", "--out", old);
    const { privateKey } = keysIn(old).keys[0]!;
    const [other, third] = keysIn(made).keys.map((key) => key.privateKey);
    const at = (months: number, pem: string) => ({ epoch: laterEpoch(now, months), value: "100", privateKey: pem });
    const past = { version: 1, origin: ORIGIN, keys: [at(-2, other!), at(-1, third!), at(0, privateKey)] };
    writeFileSync(join(old, "keys.json"), JSON.stringify(past));
    expect((await keys("--extend", old, "--epochs", "1", "--out", added)).code).to.equal(0);
    const epochs = keysIn(added).keys.map(({ epoch }) => epoch);
    expect(epochs).to.deep.equal([-1, 0, 1].map((months) => laterEpoch(now, months)));
  });

  it("refuses files of keys that others can read, or that are damaged, without showing them", async () => {
    const path = join(made, "keys.json");
    const text = readFileSync(path, "utf8");
    const extend = () => keys("--extend", made, "--epochs", "1", "--out", join(home.folder, "never"));
    chmodSync(path, 0o644);
    expect(codeOf(await extend())).to.deep.equal([9, "KEY_FILE_UNSAFE"]);
    chmodSync(path, 0o600);
    const secret = keysIn(made).keys[0]!.privateKey.split("\n")[3]!;
    for (const damaged of [
      text.slice(0, -20),
      text.replace("BEGIN", "BEGAN"),
      text.replace('"version": 1', '"version": 2'),
    ]) {
      writeFileSync(path, damaged);
      const ended = await extend();
      expect(codeOf(ended)).to.deep.equal([2, "FILE_UNREADABLE"]);
      expect(ended.stderr).to.not.include(secret);
    }
    // Readable as a key, but the numbers in it do not fit together.
    writeFileSync(path, text.replace(secret, secret.replaceAll(/[A-Za-z]/g, "A")));
    rmSync(join(made, "schedule.json"));
    const again = await keys("--origin", ORIGIN, "--values", "100,500", "--epochs", "2", "--out", made);
    expect(codeOf(again)).to.deep.equal([9, "KEY_MISSING"]);
    expect(again.stderr).to.not.include(secret.slice(0, 20));
    writeFileSync(path, text);
    expect((await keys("--origin", ORIGIN, "--values", "100,500", "--epochs", "2", "--out", made)).code).to.equal(0);
  });

  describe("sotto prepaid sign", () => {
    const noChain = () => Promise.reject(new Error("no call to the chain is needed"));
    const signedFile = () => join(made, "schedule.signed.json");
    afterEach(() => rmSync(signedFile(), { force: true }));

    it("signs with the account, without the chain, and never replaces a file", async () => {
      const args = ["--schedule", join(made, "schedule.json")];
      const ended = await sign(...args);
      expect(ended.code, ended.stderr).to.equal(0);
      const { file, wallet, signature } = JSON.parse(ended.stdout);
      expect([file, wallet]).to.deep.equal([signedFile(), LOCAL_ACCOUNT]);
      const signed = decodeSignedSchedule(read(file));
      expect(signed).to.deep.equal({ schedule: scheduleIn(made), signature });
      expect(await verifyScheduleSignature(signed, noChain)).to.equal(true);
      expect(codeOf(await sign(...args))).to.deep.equal([2, "FILE_EXISTS"]);
      const other = join(home.folder, "other.json");
      expect((await sign(...args, "-o", other)).code).to.equal(0);
      expect(read(other)).to.deep.equal(read(file));
    });

    it("accepts the signature of another wallet over the data that it shows", async () => {
      const owner = Account.createRandom();
      const folder = join(home.folder, "foreign");
      await keys("--origin", ORIGIN, "--values", "100", "--epochs", "1", "--out", folder, "--wallet", owner.address);
      const schedule = join(folder, "schedule.json");
      expect(codeOf(await sign("--schedule", schedule))).to.deep.equal([3, "REFUSED"]);
      const shown = JSON.parse((await sign("--schedule", schedule, "--typed-data")).stdout);
      expect(existsSync(join(folder, "schedule.signed.json"))).to.equal(false);
      const { EIP712Domain: _, ...types } = shown.types;
      const signature = await owner.signTypedData(shown.domain, types, shown.message);
      for (const given of [signature, Signature.from(signature).compactSerialized]) {
        const output = join(folder, `${given.length}.json`);
        expect((await sign("--schedule", schedule, "--signature", given, "-o", output)).code).to.equal(0);
        expect(await verifyScheduleSignature(decodeSignedSchedule(read(output)), noChain)).to.equal(true);
      }
      const both = await sign("--schedule", schedule, "--signature", signature, "--typed-data");
      expect(codeOf(both)).to.deep.equal([2, "USAGE"]);
    });

    it("refuses a schedule for another chain or pool", async () => {
      const { schedule } = read(join(made, "schedule.json")) as { schedule: object };
      for (const change of [{ chainId: 1 }, { pool: `0x${"13".repeat(20)}` }]) {
        const path = home.write("elsewhere.json", JSON.stringify({ schedule: { ...schedule, ...change } }));
        expect(codeOf(await sign("--schedule", path))).to.deep.equal([3, "REFUSED"]);
      }
    });
  });
});
