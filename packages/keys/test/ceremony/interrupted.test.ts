// A ceremony whose processes are killed and whose disk is full: it keeps every contribution and still completes.

import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { acceptRound, beginCeremony, contributeTo, endWithBeacon } from "../../src/ceremony/ceremony.ts";
import { openCeremony, roundFolder, zkeyIn } from "../../src/ceremony/context.ts";
import { type FinalContext, finalize, verifyCeremony } from "../../src/ceremony/finalize.ts";
import { makePracticePtau } from "../../src/ceremony/practice.ts";
import { sha256File } from "../../src/circuits/files.ts";
import { readTranscript } from "../../src/sets/transcript.ts";
import type { Transcript } from "../../src/sets/transcript-schema.ts";
import { readR1cs } from "../../src/setup/keys/r1cs.ts";
import { stopSnarkjs } from "../../src/verifiers/stop-snarkjs.ts";
import { compileToy, type Toy } from "../setup/support/toy.ts";
import { toyContext } from "./support/steps.ts";

const STEPS = join(import.meta.dirname, "support", "steps.ts");
const BEACON = { hash: "cd".repeat(32), iterations: 10, source: "drand, round 4712" };

describe("a ceremony, interrupted", function () {
  slow(this, "keys, circuits and ceremonies are made");
  let toy: Toy;
  let folder: string;
  let ptau: string;
  let context: FinalContext;
  const at = (...parts: string[]) => join(folder, ...parts);

  before(async () => {
    toy = await compileToy();
    for (const kind of ["r1cs", "wasm"] as const) cpSync(toy.paths[kind], join(toy.folder, `twin.${kind}`));
    folder = mkdtempSync(join(tmpdir(), "sotto-interrupted-"));
    ptau = at("practice.ptau");
    await makePracticePtau(readR1cs(toy.paths.r1cs).logDomain, ptau);
    context = await toyContext(folder, toy.folder, () => {});
  });
  after(async () => {
    await stopSnarkjs();
    toy.remove();
    rmSync(folder, { recursive: true });
  });

  /**
   * @param lines number of lines after which it kills itself
   * @param blocks largest file it may write, of 512 bytes each (some shells': 1024)
   */
  async function goOn(lines = Number.POSITIVE_INFINITY, blocks?: number) {
    const command = [process.execPath, STEPS, folder, toy.folder, ptau, `${lines}`];
    const limited = ["sh", "-c", `ulimit -f ${blocks}; exec "$@"`, "sh", ...command];
    const [file = "", ...args] = blocks === undefined ? command : limited;
    const child = spawn(file, args, { stdio: ["ignore", "pipe", "pipe"] });
    let errors = "";
    child.stderr.on("data", (data: Buffer) => {
      errors += data.toString();
    });
    child.stdout.resume();
    const status = await new Promise<number | null>((resolve) => child.once("close", resolve));
    return { status, errors };
  }

  it("reports a full disk, leaves no partial file, and resumes", async () => {
    const { status, errors } = await goOn(Number.POSITIVE_INFINITY, 4);
    expect(status).to.equal(1);
    expect(errors).to.match(/^sotto: EFBIG: /);
    expect(readdirSync(roundFolder(context, 0))).to.deep.equal([]);
    expect(existsSync(at("toy", "transcript.json"))).to.equal(false);
  });

  it("resumes after kill -9 at any step, and keeps every contribution", async () => {
    const hashes = new Map<string, string>();
    let killed = 0;
    for (let line = 1; ; line += 1) {
      const { status, errors } = await goOn(5 + (line % 5));
      const { rounds } = existsSync(at("toy", "transcript.json"))
        ? readTranscript(at("toy", "transcript.json"))
        : { rounds: [] };
      for (const { contributor, hashes: of } of rounds) {
        const before = hashes.get(contributor);
        if (before !== undefined) expect(of["toy"]!.zkey, contributor).to.equal(before);
        hashes.set(contributor, of["toy"]!.zkey);
      }
      if (status === 0) break;
      expect(errors).to.equal("");
      killed += 1;
      expect(killed).to.be.lessThan(40);
    }
    expect(killed).to.be.greaterThan(3);
    expect([...hashes.keys()]).to.deep.equal(["ada", "grace", "beacon"]);
    await verifyCeremony(context, readTranscript(at("published.json")), ptau, at("final"));
  });

  it("reuses complete, undamaged first keys of this circuit and phase 1", async () => {
    const other = { ...context, folder: at("cut-off") };
    const first = roundFolder(other, 0);
    /** @returns circuits whose keys were made; @param stop at this circuit, as a kill does that leaves half of a file */
    const begin = async (stop?: string, change: Partial<FinalContext> = {}, phase1 = ptau) => {
      const made: string[] = [];
      const report = (line: string) => {
        const [, name = "", ended] = /^(\w+) .*: keys from phase 1(: .* s)?$/.exec(line) ?? [];
        if (ended !== undefined) made.push(name);
        if (name !== "" && name === stop) throw new Error("stopped");
      };
      const run = beginCeremony({ ...other, report, ...change }, "rehearsal/toy", phase1);
      if (stop === undefined) await run;
      else {
        await run.catch(({ message }: Error) => expect(message).to.equal("stopped"));
        writeFileSync(join(first, `${stop}.zkey.1.tmp`), "half of it");
      }
      return made;
    };
    expect(await begin("twin")).to.deep.equal(["toy"]);
    await expectRejected("CEREMONY_NOT_BEGUN", () => endWithBeacon(other, BEACON));
    expect(await begin("twin")).to.deep.equal([]);
    // A damaged file, a file of another circuit, and a file from another phase 1.
    writeFileSync(zkeyIn(first, "toy"), readFileSync(zkeyIn(first, "toy")).fill(1, 5_000, 5_001));
    expect(await begin("twin")).to.deep.equal(["toy"]);
    const changed = await compileToy("sum * secret + bound");
    const circuits = [{ name: "toy", r1cs: changed.paths.r1cs }, context.circuits[1]!];
    expect(await begin("twin", { circuits })).to.deep.equal(["toy"]);
    changed.remove();
    expect(await begin("twin")).to.deep.equal(["toy"]);
    const larger = at("larger.ptau");
    await makePracticePtau(readR1cs(toy.paths.r1cs).logDomain + 1, larger);
    expect(await begin("twin", {}, larger)).to.deep.equal(["toy"]);
    expect(await begin("twin")).to.deep.equal(["toy"]);
    expect(await begin()).to.deep.equal(["twin"]);
    await expectRejected("CEREMONY_EXISTS", () => begin());
    const hashes = ({ circuits }: Transcript) => Object.values(circuits).map(({ zkey }) => zkey);
    const whole = await beginCeremony({ ...context, folder: at("at-once") }, "rehearsal/toy", ptau);
    expect(hashes(openCeremony(other))).to.deep.equal(hashes(whole));
    for (const { name } of context.circuits)
      expect(sha256File(zkeyIn(first, name))).to.equal(whole.circuits[name]!.zkey);
  });

  it("is neither continued nor begun again with a circuit that was added after the first contribution", async () => {
    const [toys, twins] = [context.circuits.slice(0, 1), context.circuits];
    const other = { ...context, folder: at("added"), circuits: toys };
    const grown = { ...other, circuits: twins };
    await beginCeremony(other, "rehearsal/toy", ptau);
    await contributeTo(roundFolder(other, 0), at("to-toy"), "Ada", other);
    await acceptRound(other, ptau, at("to-toy"));
    const record = readFileSync(at("added", "transcript.json"), "utf8");
    await expectRejected("CEREMONY_EXISTS", () => beginCeremony(grown, "rehearsal/toy", ptau));
    for (const step of [
      () => acceptRound(grown, ptau, at("to-toy")),
      () => endWithBeacon(grown, BEACON),
      () => finalize(grown, ptau, at("added-final")),
    ]) {
      const { message } = await expectRejected("CIRCUIT_DIFFERS", step);
      expect(message).to.include("check out the commit");
    }
    expect(readFileSync(at("added", "transcript.json"), "utf8")).to.equal(record);
    await endWithBeacon(other, BEACON);
  });

  it("keeps a contribution at its destination, and accepts the last one again", async () => {
    const other = { ...context, folder: at("by-hand") };
    await beginCeremony(other, "rehearsal/toy", ptau);
    await contributeTo(roundFolder(other, 0), roundFolder(other, 1), "Ada", other);
    await acceptRound(other, ptau, roundFolder(other, 1));
    expect(existsSync(zkeyIn(roundFolder(other, 1), "toy"))).to.equal(true);
    await acceptRound(other, ptau, roundFolder(other, 1));
    expect(openCeremony(other).rounds).to.have.length(1);
  });

  it("keeps the files that it checked, even if the sender's folder changes meanwhile", async () => {
    const [sent, zkey] = [at("sent"), zkeyIn(at("sent"), "toy")];
    const change = () => existsSync(sent) && writeFileSync(zkey, "something else");
    const other = { ...context, folder: at("changing") };
    await beginCeremony(other, "rehearsal/toy", ptau);
    await contributeTo(roundFolder(other, 0), sent, "Ada", other);
    const honest = readFileSync(zkey);
    const { hashes } = await acceptRound({ ...other, report: change }, ptau, sent);
    expect(readFileSync(zkey, "utf8")).to.equal("something else");
    expect(readFileSync(zkeyIn(roundFolder(other, 1), "toy")).equals(honest)).to.equal(true);
    expect(sha256File(zkeyIn(roundFolder(other, 1), "toy"))).to.equal(hashes["toy"]!.zkey);
    await expectRejected("ZKEY_DAMAGED", () => acceptRound(other, ptau, sent));
    await expectRejected("ZKEY_DAMAGED", () => acceptRound(other, ptau, at("nobody")));
    expect(readdirSync(at("changing", "rounds"))).to.deep.equal(["0000", "0001"]);
  });

  it("does not blame a contributor for damaged first keys", async () => {
    const other = { ...context, folder: at("damaged") };
    await beginCeremony(other, "rehearsal/toy", ptau);
    await contributeTo(roundFolder(other, 0), at("honest"), "Ada", other);
    const first = zkeyIn(roundFolder(other, 0), "twin");
    const whole = readFileSync(first);
    writeFileSync(first, Buffer.from(whole).fill(1, 5_000, 5_001));
    expect((await expectRejected("ZKEY_DAMAGED", () => acceptRound(other, ptau, at("honest")))).message).to.include(
      first,
    );
    writeFileSync(first, whole);
    await acceptRound(other, ptau, at("honest"));
  });

  it("does not apply the beacon to damaged keys", async () => {
    const other = { ...context, folder: at("by-hand") };
    const file = zkeyIn(roundFolder(other, 1), "toy");
    const whole = at("whole.zkey");
    cpSync(file, whole);
    const bytes = readFileSync(file);
    bytes.writeUInt8(bytes.readUInt8(5_000) ^ 1, 5_000);
    for (const damaged of [bytes, bytes.subarray(0, 5_000)]) {
      writeFileSync(file, damaged);
      await expectRejected("ZKEY_DAMAGED", () => endWithBeacon(other, BEACON));
    }
    rmSync(file);
    await expectRejected("ZKEY_DAMAGED", () => endWithBeacon(other, BEACON));
    cpSync(whole, file);
    await endWithBeacon(other, BEACON);
  });
});
