// Thousands of almost valid requests, the same ones in each run. The registry answers each with the matching error. It
// links, verifies and unlinks nothing, and repeats no number.

import { PHONE_ROUTE_ERRORS } from "@sotto/phone-registry";
import { bindingSlots } from "@sotto/protocol";
import { SERVER_ERRORS, statusOf } from "@sotto/server";
import { FuzzClient, INTERNALS, type Reply } from "@sotto/test-kit/fuzz-http";
import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { type Fields, type FuzzRequest, mutate, type Sample } from "@sotto/test-kit/mutations";
import type { Random } from "@sotto/test-kit/random";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import {
  account,
  linkBody,
  linkVerified,
  newNumber,
  openTestRegistry,
  proofOf,
  type Signer,
  type TestRegistry,
  unlinkBody,
} from "./support/world.ts";

const REQUESTS = fuzzSize(1_000, 50_000);
const LOOKUPS = fuzzSize(200, 10_000);
const AT_A_TIME = 8;
const ERRORS = { ...SERVER_ERRORS, ...PHONE_ROUTE_ERRORS };

describe("mutated requests to the phone registry", function () {
  slow(this, "a chain and a registry's processes");
  let registry: TestRegistry;
  let client: FuzzClient;
  let samples: Sample[];
  const people: [Signer, string][] = [];
  const secrets: string[] = [];

  before(async () => {
    registry = await openTestRegistry({ SOTTO_PHONE_CONTRACT_CHECKS: "100" });
    client = new FuzzClient(registry.url, AT_A_TIME);
    for (let index = 0; index < 4; index += 1) people.push([account(), newNumber()]);
    const [one, two, three, four] = people as [[Signer, string], [Signer, string], [Signer, string], [Signer, string]];
    // Two numbers are unverified, two are verified.
    const links = [await linkBody(registry, ...one), await linkBody(registry, ...two)];
    for (const body of links) await registry.link(body);
    await linkVerified(registry, ...three);
    await linkVerified(registry, ...four);
    const proofs = [proofOf(registry, ...one), proofOf(registry, ...two)];
    const [slot = 0] = bindingSlots(Date.now());
    const unlinks = [await unlinkBody(registry, ...three, slot), await unlinkBody(registry, ...four, slot)];
    secrets.push(...people.map(([, phone]) => phone.slice(1)), ...proofs.map(({ code }) => code));
    secrets.push(...[...links, ...unlinks].map(({ signature }) => signature.slice(2)));
    const pair = (path: string, [right, other]: readonly object[], same: string[] = []): Sample => ({
      path,
      optional: [],
      same,
      right: right as Fields,
      other: other as Fields,
    });
    samples = [
      pair("/phone/link", links),
      pair("/phone/verify", proofs, proofs[0]!.code === proofs[1]!.code ? ["code"] : []),
      pair("/phone/unlink", unlinks, ["issuedAt"]),
    ];
    registry.codes.length = 0;
  });
  after(async () => {
    client.close();
    await registry.close();
  });

  /** @returns a description of the response's fault; undefined if there is none */
  function judge({ status, text }: Reply): string | undefined {
    if (status >= 500) return "a 5xx";
    const answer = JSON.parse(text) as Record<string, unknown>;
    if (INTERNALS.test(text)) return "internals in it";
    if (status !== 200 && secrets.some((secret) => text.includes(secret))) return "something secret in it";
    if (status === 200) return "it was accepted";
    if (Object.keys(answer).sort().join() !== "code,error,message") return "other fields";
    return statusOf(ERRORS, String(answer["code"])) === status ? undefined : "a status that is not its code's";
  }

  it("are rejected, each with a reason", async () => {
    const codes = new Map<string, number>();
    const faults = await client.faults(REQUESTS, "phone fuzz", async (random) => {
      let request = mutate(samples, random);
      // Another spelling of the same number or signature is the same request, so it is not a mutation.
      while (isRight(request)) request = mutate(samples, random);
      const reply = await client.send(request);
      const code = reply.status === 200 ? "200" : String((JSON.parse(reply.text) as { code?: unknown }).code);
      codes.set(code, (codes.get(code) ?? 0) + 1);
      const fault = judge(reply);
      return fault && `${request.path}, ${request.what}: ${fault}: ${reply.status} ${reply.text.slice(0, 300)}`;
    });
    expect(faults.slice(0, 20)).to.deep.equal([]);
    // The requests reach every layer. Accounts are random, so the counts vary; the lowest is about 25.
    for (const code of ["INVALID_REQUEST", "INVALID_JSON", "INVALID_PHONE_NUMBER", "INVALID_SHIELDED_ADDRESS"])
      expect(codes.get(code) ?? 0, code).to.be.above(5);
    for (const code of ["SIGNATURE_INVALID", "CODE_EXPIRED", "BINDING_SIGNATURE_INVALID", "INVALID_ADDRESS"])
      expect(codes.get(code) ?? 0, code).to.be.above(5);
  });

  it("resolve no number from mutated paths", async () => {
    const faults = await client.faults(LOOKUPS, "paths", async (random) => {
      const [, phone] = random.pick(people);
      const path = spoil(phone, random);
      const { status, text } = await client.send({ method: "GET", path: `/phone/resolve/${path}` });
      if (status === 200) {
        const { wallet, phoneNumber } = JSON.parse(text) as Record<string, unknown>;
        const [written = ""] = path.split("?");
        // Many people write +49 (0)151...
        const asked = `+${decodeURIComponent(written).replace(/\D/g, "").replace(/^490/, "49")}`;
        const [owner] = people.find(([, number]) => number === asked) ?? [];
        return phoneNumber === asked && wallet === owner?.address ? undefined : `${path}: ${text}`;
      }
      const fault = judge({ status, text });
      return fault && `${path}: ${fault}: ${status} ${text.slice(0, 200)}`;
    });
    expect(faults.slice(0, 20)).to.deep.equal([]);
  });

  it("change no link and leave no number in the log", async () => {
    const log = registry.logged.join("");
    expect(secrets.filter((secret) => log.includes(secret))).to.deep.equal([]);
    expect(registry.logged.filter((line) => (JSON.parse(line) as { level: number }).level >= 50)).to.deep.equal([]);
    for (const [index, [signer, phone]] of people.entries())
      expect((await registry.resolve(phone)).body).to.include({
        wallet: signer.address,
        verified: index >= 2,
      });
    expect(await registry.registry.check()).to.include({ links: people.length });
  });

  it("leave the registry able to link and verify", async () => {
    const [signer, phone] = [account(), newNumber()];
    await linkVerified(registry, signer, phone);
    expect((await registry.resolve(phone)).body["wallet"]).to.equal(signer.address);
  });

  /** Whether a mutation is only another spelling of a valid request. */
  function isRight({ path, type, body }: FuzzRequest): boolean {
    if (type !== "application/json") return false;
    let fields: Record<string, unknown>;
    try {
      fields = Object(JSON.parse(body.toString()));
    } catch {
      return false;
    }
    const sample = samples.find((one) => one.path === path)!;
    return [sample.right, sample.other].some((right) =>
      Object.entries(right).every(([name, value]) => sameValue(name, fields[name], value)),
    );
  }
});

function sameValue(name: string, given: unknown, right: unknown): boolean {
  if (typeof given !== "string" || typeof right !== "string") return given === right;
  if (name === "phoneNumber") return given.replace(/[+ ().\-/\u00a0\u2011]/g, "") === right.slice(1);
  if (name === "encryptionPublicKey") return given === right;
  return given.toLowerCase() === right.toLowerCase();
}

const EXTRA = [
  "%00",
  "%2F",
  "/",
  "..",
  "%20",
  "+",
  "%2B",
  "a",
  "0",
  "9",
  "%ff",
  "'",
  '"',
  "-",
  "(",
  "%0a",
  ";ext=1",
  "?x",
  "#",
];

/** A number with one character changed, removed or inserted. */
function spoil(phone: string, random: Random): string {
  const text = random.pick([phone, encodeURIComponent(phone), phone.slice(1)]);
  const at = random.below(text.length + 1);
  const rest = random.pick([text.slice(at), text.slice(at + 1)]);
  return `${text.slice(0, at)}${random.pick(EXTRA)}${rest}`.replaceAll("#", "%23");
}
