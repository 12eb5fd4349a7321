import { MAX_SIGNATURE_BYTES } from "@sotto/protocol";
import { Type } from "typebox";
import { ED25519_KEY_BYTES } from "../core/ed25519.ts";
import { PREPAID_SPKI_BYTES } from "../core/key.ts";
import { MAX_METERED_ROUTES } from "../core/metered/terms.ts";
import { MAX_METERED_UNITS } from "../core/metered/units.ts";
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

/** The fields that schedules and terms share. */
const statement = {
  wallet: Address,
  chainId: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  pool: Address,
  origin: Origin,
  firstEpoch: Type.String({ maxLength: 7, description: "UTC month, such as 2026-11" }),
};
const BaseUnits = Type.String({ maxLength: 20, description: "base units, decimal" });

const Schedule = Type.Object(
  {
    ...statement,
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

const signatureOver = (struct: string) =>
  Type.String({
    minLength: hexLength(1),
    maxLength: hexLength(MAX_SIGNATURE_BYTES),
    description: `the wallet's over the EIP-712 struct ${struct}: of an account, EIP-1271 or EIP-6492`,
  });
const receivedAt = Type.Integer({ description: "Unix seconds" });

export const PushBody = Type.Object({ schedule: Schedule, signature: signatureOver("PrepaidSchedule") });

export const PushResponse = Type.Object({
  accepted: Type.Integer({ description: "keys that the service did not have" }),
  known: Type.Integer({ description: "keys that it had" }),
});

export const OwnerQuery = Type.Object({ wallet: Address, origin: Origin });

const MirroredSchedule = Type.Object({ ...PushBody.properties, receivedAt });

export const SchedulesResponse = Type.Object({
  schedules: Type.Array(MirroredSchedule, { description: "the oldest first" }),
});

const Rule = Type.Object(
  {
    base: BaseUnits,
    units: Type.Array(
      Type.Object({
        name: Type.String(),
        price: BaseUnits,
        per: Type.Integer({ description: "1, 1000, 1000000 or 1000000000" }),
      }),
      { minItems: 1, maxItems: MAX_METERED_UNITS, description: "sorted by name" },
    ),
    cap: BaseUnits,
    grain: BaseUnits,
  },
  { description: "What a request of a metered route costs" },
);

const Terms = Type.Object(
  {
    ...statement,
    receiptKeys: Type.Array(Type.String({ maxLength: hexLength(ED25519_KEY_BYTES) }), {
      minItems: 1,
      maxItems: MAX_PREPAID_EPOCHS,
      description: "the Ed25519 receipt key of each epoch, hex with 0x",
    }),
    routes: Type.Array(
      Type.Object({
        method: Type.String({ description: "such as POST" }),
        path: Type.String({ description: "such as /v1/chat, /reports/:id or /files/*" }),
        rule: Rule,
      }),
      { minItems: 1, maxItems: MAX_METERED_ROUTES },
    ),
  },
  { description: "Rules of metered routes, and receipt keys, for consecutive epochs" },
);

export const TermsPushBody = Type.Object({ terms: Terms, signature: signatureOver("MeteredTerms") });

export const TermsPushResponse = Type.Object({
  accepted: Type.Boolean({ description: "whether the service did not have these terms" }),
});

const MirroredTerms = Type.Object({ ...TermsPushBody.properties, receivedAt });

export const TermsResponse = Type.Object({
  terms: Type.Array(MirroredTerms, { description: "the oldest first" }),
});
