// `@sotto/origins`: sets of notes that descend from accepted deposits, their heads, logs and claims. It runs in browsers and in Node,
// without I/O and without a clock.
export {
  type AskedSet,
  MAX_ASKED_SETS,
  MAX_ROOT_AGE_MS,
  ORIGINS_FIELD,
  parseAskedSet,
  parseAskedSets,
} from "./core/asked.ts";
export {
  type AuditCode,
  type AuditReport,
  type AuditSource,
  auditSet,
  type Contradiction,
  contradictEachOther,
} from "./core/audit.ts";

export {
  assertBitmap,
  CHUNK_BYTES,
  CHUNK_LEAVES,
  CHUNK_LEVELS,
  chunksOf,
  countShared,
  hasBit,
  setBit,
} from "./core/bitmap.ts";
export { decodeClaim, encodeClaim, type OriginClaim, type WireClaim } from "./core/claim.ts";
export {
  checkEvidence,
  decodeEvidence,
  type EvidenceChain,
  type EvidenceCheck,
  encodeEvidence,
  MAX_EVIDENCE_BYTES,
  type OriginEvidence,
  type ShownNote,
  spendingEvent,
} from "./core/evidence.ts";
export {
  curatorOf,
  decodeHead,
  encodeHead,
  headDigest,
  isSigned,
  MAX_HEAD_BYTES,
  minSlotSeconds,
  type OriginHead,
  type SignedHead,
  SLOT_SECONDS,
  signHead,
  type WireHead,
  ZERO_BYTES,
} from "./core/head.ts";
export {
  decodeOriginHeader,
  encodeOriginHeader,
  MAX_ORIGIN_HEADER_LENGTH,
  MAX_SHOWN_ORIGINS,
  ORIGIN_HEADER,
  type ShownOrigin,
} from "./core/header.ts";
export {
  type ClaimEntry,
  chainLine,
  decodeEntry,
  encodeEntry,
  type JudgementEntry,
  LOG_START,
  type LogEntry,
  MAX_ENTRY_BYTES,
} from "./core/log.ts";
export { decodeManifest, encodeManifest, type ListedChunk, manifestBytes, sha256Hex } from "./core/manifest.ts";
export { type Chunk, type LeafAt, MaskTree, rootOfChunks } from "./core/mask-tree.ts";
export { nullifiersOf } from "./core/nullifiers.ts";
export {
  bitmapPath,
  CLAIMS_PATH,
  ENTRIES_PER_PACK,
  HEAD_PATH,
  HEADS_PER_PACK,
  headPackPath,
  logPackPath,
  MAX_CLAIMS,
  manifestPath,
  policyPath,
} from "./core/publication.ts";
export { type HeadFacts, type MaskFiles, maskFiles, nextHead, type Publication } from "./core/publish.ts";
export { ROOT_GRACE_SECONDS, RootHistory, type TimedRoot } from "./core/root-history.ts";
export { type OriginSet, parseSet, parseSetName, setId } from "./core/set.ts";
export { type ClaimProblem, type JudgementProblem, type SetEvent, SetState } from "./core/set-state.ts";
