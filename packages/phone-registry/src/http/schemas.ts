import { type Static, Type } from "@fastify/type-provider-typebox";
import { MAX_SIGNATURE_BYTES } from "@sotto/protocol";
import { MAX_WRITTEN_LENGTH } from "./numbers.ts";

const Seconds = (description: string) => Type.Integer({ minimum: 0, maximum: 99_999_999_999, description });
const PhoneNumber = Type.String({ minLength: 4, maxLength: MAX_WRITTEN_LENGTH, description: "E.164: + and digits" });
const Wallet = Type.String({ minLength: 42, maxLength: 42, description: "wallet address, 0x and 40 hex digits" });
const Signature = Type.String({
  minLength: 4,
  maxLength: 2 + 2 * MAX_SIGNATURE_BYTES,
  description: "of the wallet, hex with 0x: an account's, or a contract's (EIP-1271, EIP-6492)",
});

export const LinkBody = Type.Object(
  {
    phoneNumber: PhoneNumber,
    walletAddress: Wallet,
    signature: Signature,
    // Its form is checked by the route, which says what a shielded address is.
    encryptionPublicKey: Type.String({
      maxLength: 1024,
      description: "the shielded address: packed encryption key, then owner tag, 64 bytes as lower-case hex with 0x",
    }),
    issuedAt: Type.Optional(
      Seconds("seconds, a multiple of 300 of the last 24 hours; left out: the slots around now are tried"),
    ),
  },
  { description: "The signature is over the struct ShieldedAddressBinding. Fields it does not name are ignored." },
);
export type LinkBody = Static<typeof LinkBody>;

export const VerifyBody = Type.Object({
  phoneNumber: PhoneNumber,
  walletAddress: Wallet,
  code: Type.String({
    minLength: 6,
    maxLength: 6,
    pattern: "^[0-9]{6}$",
    description: "six digits, as they were sent",
  }),
});
export type VerifyBody = Static<typeof VerifyBody>;

export const UnlinkBody = Type.Object(
  {
    phoneNumber: PhoneNumber,
    walletAddress: Wallet,
    signature: Signature,
    issuedAt: Seconds("seconds, a multiple of 300 of the last 24 hours"),
  },
  { description: "The signature is over the struct PhoneUnlink." },
);
export type UnlinkBody = Static<typeof UnlinkBody>;

export const PhoneParams = Type.Object({
  phone: Type.String({
    minLength: 1,
    maxLength: MAX_WRITTEN_LENGTH,
    description: "the number, with + (%2B), with spaces or as bare digits",
  }),
});

/** All or none: a registry that answers signed lookups only says so with 401. */
export const LookupHeaders = Type.Object({
  "x-sotto-wallet": Type.Optional(Wallet),
  "x-sotto-nonce": Type.Optional(
    Type.String({ minLength: 16, maxLength: 64, description: "16 to 64 of A-Z a-z 0-9 - _, used once" }),
  ),
  "x-sotto-deadline": Type.Optional(
    Type.String({ minLength: 1, maxLength: 12, description: "Unix seconds, decimal, at most 300 s ahead" }),
  ),
  "x-sotto-signature": Type.Optional(Signature),
});

const mapping = {
  wallet: Type.String({ description: "wallet address" }),
  phoneHash: Type.String({ description: "SHA-256 of the number in E.164, hex without 0x" }),
  encryptedMapping: Type.Boolean({ description: "true: it is stored encrypted" }),
  verified: Type.Boolean({ description: "whether who linked it has proven to hold the number" }),
  phoneNumber: Type.String({ description: "the number in E.164, as the wallet signed it" }),
  encryptionPublicKey: Type.String({ description: "the shielded address to be paid" }),
  signature: Type.String({ description: "of the wallet over ShieldedAddressBinding of these fields" }),
  chainId: Type.String({ description: "signed; decimal" }),
  pool: Type.String({ description: "signed; address of the pool" }),
  service: Type.String({ description: "signed; public base address of this registry" }),
  issuedAt: Type.Integer({ description: "signed; Unix seconds" }),
  expiresAt: Type.Integer({ description: "Unix seconds: from then on the number is unknown" }),
};

export const MappingAnswer = Type.Object(mapping);

const Change = Type.Object({ from: Type.String(), to: Type.String() });
const changed = Type.Optional(
  Type.Object(
    { wallet: Type.Optional(Change), encryptionPublicKey: Type.Optional(Change) },
    {
      description:
        "what was linked before and is no more: only who proved the number, or holds the same wallet, is told",
    },
  ),
);

export const LinkAnswer = Type.Object({
  ...mapping,
  remaining: Type.Array(
    Type.Object({
      step: Type.String({
        description: "enter-code: a code is on its way. ask-again: it could not be sent, send the same request again",
      }),
      codeExpiresAt: Type.Optional(Type.Integer({ description: "Unix ms" })),
      tries: Type.Optional(Type.Integer({ description: "how often a code may be tried" })),
    }),
    { description: "what is left to do; empty: the link is in force" },
  ),
  changed,
});

export const VerifyAnswer = Type.Object({ ...mapping, changed });
export const UnlinkAnswer = Type.Object({ unlinked: Type.Boolean() });

export const RegistryAnswer = Type.Object(
  {
    service: Type.String({ description: "public base address, which links and lookups are signed for" }),
    chainId: Type.String({ description: "decimal" }),
    pool: Type.String(),
    signedLookups: Type.Boolean({ description: "whether resolve asks for a wallet's signature" }),
    unverified: Type.String({ description: "show or hide: what resolve does with a number that nobody has proven" }),
    slotSeconds: Type.Integer({ description: "issuedAt is a multiple of this" }),
    lifetimeSeconds: Type.Integer({ description: "how long a link holds from issuedAt on" }),
  },
  { description: "What a wallet needs to know to sign. Compare service with the address you asked." },
);
