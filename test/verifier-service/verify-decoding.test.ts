import { paymentSignals } from "@sotto/protocol";
import { post } from "@sotto/test-kit/http";
import { slow } from "@sotto/test-kit/slow";
import { forgeBundle } from "@sotto/test-world/bundles";
import { openService, openWorld, type TestService, type World } from "@sotto/test-world/service";
import { expect } from "chai";

describe("POST /verify", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let service: TestService;
  /** None of these requests reaches the chain. */
  const root = 1n;
  const send = (body: unknown) => post(`${service.url}/verify`, body);

  before(async () => {
    world = await openWorld();
    service = await openService();
  });
  after(() => service.close());

  describe("answers 400 to undecodable input", () => {
    const P = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;
    const Q = 21888242871839275222246405745257275088696311157297823662689037894645226208583n;
    const set = (words: readonly string[], index: number, word: string) =>
      words.map((w, i) => (i === index ? word : w));
    type Bundle = ReturnType<typeof forgeBundle>;
    const cases: [string, string, (bundle: Bundle) => unknown][] = [
      [
        "an alias of a coordinate",
        "INVALID_BUNDLE",
        (b) => ({ ...b, proof: set(b.proof, 0, String(BigInt(b.proof[0]!) + Q)) }),
      ],
      ["a point off the curve", "PROOF_NOT_ON_CURVE", (b) => ({ ...b, proof: set(b.proof, 0, "1") })],
      [
        "a point off the curve beside another set of keys",
        "PROOF_NOT_ON_CURVE",
        (b) => ({ ...b, proof: set(b.proof, 0, "1"), artifactSet: "00" }),
      ],
      ["a point at infinity", "PROOF_AT_INFINITY", (b) => ({ ...b, proof: set(set(b.proof, 0, "0"), 1, "0") })],
      [
        "an amount proof off the curve",
        "PROOF_NOT_ON_CURVE",
        (b) => ({ ...b, amountProof: set(b.amountProof, 7, "1") }),
      ],
      [
        "an alias of a signal",
        "INVALID_BUNDLE",
        (b) => ({
          ...b,
          publicSignals: set(b.publicSignals, 6, String(BigInt(paymentSignals(b.publicSignals).nullifier) + P)),
        }),
      ],
      ["a leading zero", "INVALID_BUNDLE", (b) => ({ ...b, senderCommitment: `0${b.senderCommitment}` })],
      ["a ciphertext off the curve", "INVALID_BUNDLE", (b) => ({ ...b, encryptedAmount: `0x${"ff".repeat(64)}` })],
      [
        "upper-case hex",
        "INVALID_BUNDLE",
        (b) => ({ ...b, encryptedAmount: `0x${b.encryptedAmount.slice(2).toUpperCase()}` }),
      ],
      [
        "bounds in the wrong order",
        "INVALID_BUNDLE",
        (b) => ({ ...b, amountPublicSignals: [...b.amountPublicSignals.slice(0, 4), "2", "1"] }),
      ],
      ["a timestamp with a fraction", "INVALID_REQUEST", (b) => ({ ...b, timestamp: b.timestamp + 0.5 })],
      ["a timestamp as text", "INVALID_REQUEST", (b) => ({ ...b, timestamp: String(b.timestamp) })],
      ["a number for a decimal", "INVALID_REQUEST", (b) => ({ ...b, senderCommitment: 5 })],
      ["seven words of proof", "INVALID_REQUEST", (b) => ({ ...b, proof: b.proof.slice(1) })],
      ["no resourceUrl", "INVALID_REQUEST", ({ resourceUrl: _, ...b }) => b],
      ["null", "INVALID_REQUEST", () => null],
      ["an array", "INVALID_REQUEST", (b) => [b]],
    ];
    for (const [what, code, change] of cases)
      it(`${what}: ${code}`, async () => {
        const { status, body } = await send(change(forgeBundle(world, { root })));
        expect(body).to.have.all.keys("error", "message", "code");
        expect([status, body["error"], body["code"]]).to.deep.equal([400, "Bad Request", code]);
      });
  });
});
