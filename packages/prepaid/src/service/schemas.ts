import { MAX_SIGNATURE_BYTES } from "@sotto/protocol";
import { Type } from "typebox";
import { PREPAID_SPKI_BYTES } from "../core/key.ts";
import { MAX_PREPAID_EPOCHS } from "../core/schedule.ts";
import { MAX_PREPAID_VALUES } from "../core/values.ts";

const Address = Type.String({
  minLength: 42,
  maxLength: 42,
  description: "wallet address, 0x and 40 hex digits",
});

const MAX_ORIGIN_LENGTH = 300;
const Origin = Type.String({ maxLength: MAX_ORIGIN_LENGTH, description: "origin at which the tokens are spent" });
const hexLength = (bytes: number) => 2 + 2 * bytes;

const Schedule = Type.Object(
  {
    wallet: Address,
    chainId: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    pool: Address,
    origin: Origin,
    firstEpoch: Type.String({ maxLength: 7, description: "UTC month, such as 2026-11" }),
    values: Type.Array(Type.String({ maxLength: 20 }), {
      minItems: 1,
      maxItems: MAX_PREPAID_VALUES,
      description: "base units, decimal, ascending, each 1, 2 or 5 times a power of ten",
    }),
    keys: Type.Array(
      Type.Array(Type.String({ maxLength: hexLength(PREPAID_SPKI_BYTES) }), {
        minItems: 1,
        maxItems: MAX_PREPAID_VALUES,
      }),
      {
        minItems: 1,
        maxItems: MAX_PREPAID_EPOCHS,
        description: "for each epoch a key for each value: SubjectPublicKeyInfo of RFC 9578, hex with 0x",
      },
    ),
  },
  { description: "Keys of prepaid tokens for consecutive epochs" },
);

const Signature = Type.String({
  minLength: hexLength(1),
  maxLength: hexLength(MAX_SIGNATURE_BYTES),
  description: "the wallet's over the EIP-712 struct PrepaidSchedule: of an account, EIP-1271 or EIP-6492",
});

export const PushBody = Type.Object({ schedule: Schedule, signature: Signature });

export const PushResponse = Type.Object({
  accepted: Type.Integer({ description: "keys that the service did not have" }),
  known: Type.Integer({ description: "keys that it had" }),
});

export const SchedulesQuery = Type.Object({ wallet: Address, origin: Origin });

const MirroredSchedule = Type.Object({
  schedule: Schedule,
  signature: Signature,
  receivedAt: Type.Integer({ description: "Unix seconds" }),
});

export const SchedulesResponse = Type.Object({
  schedules: Type.Array(MirroredSchedule, { description: "the oldest first" }),
});
