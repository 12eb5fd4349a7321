import { createHash } from "node:crypto";
import { type CertificateFile, decodeCertificate, type Theorem } from "./certificate.ts";
import { need } from "./need.ts";
import { inputWires, parseR1cs, type R1cs } from "./r1cs.ts";
import { replay, replayBridge } from "./replay.ts";

/** A theorem that the second checker has replayed. */
export interface CheckedTheorem {
  readonly theorem: Theorem;
  /** SHA-256 of the .r1cs file that the theorem is about, in hexadecimal. */
  readonly r1cs: string;
  /** SHA-256 of the file without simplification that the theorems `source` and `ports` are about too; otherwise absent. */
  readonly source?: string;
  /** For the theorem `ports`: number of wires of that file that the certificate names; otherwise absent. */
  readonly ports?: number;
  /** Number of outputs of the .r1cs file. */
  readonly outputs: number;
  /** Number of its wires, with the constant 1. */
  readonly wires: number;
  /** Number of its constraints. */
  readonly constraints: number;
  /** Steps of the proof that were replayed. */
  readonly steps: number;
}

/** The wires of the plain circuit that are those of the shipped one, which must have the same public signals. */
function imagesOf(shipped: R1cs, plain: R1cs): number[] {
  const byLabel = new Map([...plain.wireLabels].map((label, wire) => [label, wire]));
  const images = [...shipped.wireLabels].map((label) => byLabel.get(label) ?? -1);
  need(!images.includes(-1), "a wire of the r1cs file is no signal of the source");
  need(
    shipped.publicOutputs === plain.publicOutputs && shipped.publicInputs === plain.publicInputs,
    "the r1cs file has other public signals than the source",
  );
  for (let wire = 0; wire <= plain.publicOutputs + plain.publicInputs; wire++)
    need(images[wire] === wire, `public signal ${wire} is another one in the source`);
  return images;
}

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/**
 * Replays a certificate with the second checker, which trusts nothing in it. The theorem is about the .r1cs file alone:
 * the certificate's own circuit is a hint. Only the theorems `source` and `ports` are about that circuit too.
 * @param source the circuit without simplification (circom --O0), which these theorems need
 * @throws Error with the first step that does not follow
 */
export function checkCertificate(r1cs: Uint8Array, certificate: Uint8Array, source?: Uint8Array): CheckedTheorem {
  const file = decodeCertificate(certificate);
  const hash = sha256(r1cs);
  need(hash === file.r1cs, `the certificate is for another r1cs file, with the SHA-256 ${file.r1cs}`);
  const shipped = parseR1cs(Buffer.from(r1cs), "the r1cs file");
  const plain = file.plain === undefined ? shipped : parseR1cs(file.plain, "the certificate's circuit");
  const images = imagesOf(shipped, plain);
  if (plain !== shipped) {
    const missing = replayBridge(shipped, plain);
    need(missing.length === 0, `${missing.length} constraints of the source do not follow from the r1cs file`);
  }
  const sourceHash = isAboutSource(file.theorem) ? sourceOf(file.plain ?? r1cs, source, file.theorem) : undefined;
  const ports = portsOf(file, plain);
  const left = new Set(replay(plain, file, givenWires(file.theorem, shipped, plain, images)));
  const outputs = Array.from({ length: plain.publicOutputs }, (_, i) => 1 + i);
  const claimed = file.theorem === "wires" ? images : [...outputs, ...(ports ?? [])];
  need(claimed.length > 0, "the circuit has no outputs, so the theorem says nothing");
  const open = claimed.filter((wire) => left.has(wire));
  need(open.length === 0, `the proof leaves ${open.length} wires undetermined, first wire ${open[0]}`);
  const { constraints, wires } = shipped;
  return {
    theorem: file.theorem,
    r1cs: hash,
    ...(sourceHash === undefined ? {} : { source: sourceHash }),
    ...(ports === undefined ? {} : { ports: ports.length }),
    outputs: outputs.length,
    wires,
    constraints,
    steps: file.steps.length,
  };
}

const isAboutSource = (theorem: Theorem): boolean => theorem === "source" || theorem === "ports";

/** The wires of the plain circuit that the theorem `ports` is about besides the outputs. */
function portsOf({ theorem, ports }: CertificateFile, plain: R1cs): number[] | undefined {
  need((theorem === "ports") === (ports !== undefined), "only a certificate of the theorem ports names wires");
  if (ports === undefined) return undefined;
  for (const wire of ports) need(wire > 0 && wire < plain.wires, `${wire} is no wire of the source`);
  return [...new Set(ports)];
}

/** The hash of the certificate's circuit, which must be the one that the caller trusts. */
function sourceOf(plain: Uint8Array, source: Uint8Array | undefined, name: Theorem): string {
  const hash = sha256(plain);
  const theorem = `the theorem ${name} is about the circuit without simplification too`;
  need(source !== undefined, `${theorem}, whose SHA-256 is ${hash}: compile it with circom --O0 and name it`);
  need(sha256(source) === hash, `${theorem}, and the certificate has another one, with the SHA-256 ${hash}`);
  return hash;
}

/** The wires of the plain circuit on which two assignments agree. */
function givenWires(theorem: Theorem, shipped: R1cs, plain: R1cs, images: readonly number[]): number[] {
  if (isAboutSource(theorem)) {
    need(shipped.privateInputs === plain.privateInputs, "the source has another number of inputs");
    return inputWires(plain);
  }
  // An input without a wire in the r1cs file is not given: only the certificate would say what its value is.
  const inputs = inputWires(shipped);
  const publics = inputs.filter((wire) => wire <= shipped.publicOutputs + shipped.publicInputs);
  return (theorem === "strong" ? publics : inputs).map((wire) => images[wire] as number);
}
