// Request and response schemas of the registry's HTTP API. Fastify validates with them, and the API description shows them.

import { MAX_SIGNATURE_BYTES } from "@sotto/protocol";
import { type Static, Type } from "typebox";
import { MAX_WRITTEN_LENGTH } from "./numbers.ts";

const Seconds = (description: string) => Type.Integer({ minimum: 0, maximum: 99_999_999_999, description });
const PhoneNumber = Type.String({ minLength: 4, maxLength: MAX_WRITTEN_LENGTH, description: "E.164: + and digits" });
const Wallet = Type.String({ minLength: 42, maxLength: 42, description: "wallet address, 0x and 40 hex digits" });
const Signature = Type.String({
  minLength: 4,
  maxLength: 2 + 2 * MAX_SIGNATURE_BYTES,
  description: "the wallet's signature, hex with 0x: of an account or a contract (EIP-1271, EIP-6492)",
});

export const LinkBody = Type.Object(
  {
    phoneNumber: PhoneNumber,
    walletAddress: Wallet,
    signature: Signature,
    // The route checks the format, because its message explains what a shielded address is.
    encryptionPublicKey: Type.String({
      maxLength: 1024,
      description: "the shielded address: packed encryption key, then owner tag, 64 bytes as lower-case hex with 0x",
    }),
    issuedAt: Type.Optional(
      Seconds(
        "Unix seconds, a multiple of 300 in the last 24 hours; by default the slots around the current time are tried",
      ),
    ),
  },
  { description: "The wallet signs the struct ShieldedAddressBinding. Unknown fields are ignored." },
);
export type LinkBody = Static<typeof LinkBody>;

export const VerifyBody = Type.Object({
  phoneNumber: PhoneNumber,
  walletAddress: Wallet,
  code: Type.String({
    minLength: 6,
    maxLength: 6,
    pattern: "^[0-9]{6}$",
    description: "the six digits that were sent",
  }),
});
export type VerifyBody = Static<typeof VerifyBody>;

export const UnlinkBody = Type.Object(
  {
    phoneNumber: PhoneNumber,
    walletAddress: Wallet,
    signature: Signature,
    issuedAt: Seconds("Unix seconds, a multiple of 300 in the last 24 hours"),
  },
  { description: "The wallet signs the struct PhoneUnlink." },
);
export type UnlinkBody = Static<typeof UnlinkBody>;

export const PhoneParams = Type.Object({
  phone: Type.String({
    minLength: 1,
    maxLength: MAX_WRITTEN_LENGTH,
    description: "the number, with + (%2B), with spaces or as bare digits",
  }),
});

/** Send all of them or none. A registry that requires signed lookups answers 401 without them. */
export const LookupHeaders = Type.Object({
  "x-sotto-wallet": Type.Optional(Wallet),
  "x-sotto-nonce": Type.Optional(
    Type.String({ minLength: 16, maxLength: 64, description: "16 to 64 characters of A-Z a-z 0-9 - _, accepted once" }),
  ),
  "x-sotto-deadline": Type.Optional(
    Type.String({ minLength: 1, maxLength: 12, description: "Unix seconds, decimal, at most 300 s ahead" }),
  ),
  "x-sotto-signature": Type.Optional(Signature),
});

const mapping = {
  wallet: Type.String({ description: "wallet address" }),
  phoneHash: Type.String({ description: "SHA-256 of the number in E.164, hex without 0x" }),
  encryptedMapping: Type.Boolean({ description: "always true: the link is stored encrypted" }),
  verified: Type.Boolean({ description: "whether the wallet's owner has proven to have the number" }),
  phoneNumber: Type.String({ description: "the number in E.164, as the wallet signed it" }),
  encryptionPublicKey: Type.String({ description: "the shielded address to pay" }),
  signature: Type.String({ description: "the wallet's signature over ShieldedAddressBinding with these fields" }),
  chainId: Type.String({ description: "signed; decimal" }),
  pool: Type.String({ description: "signed; address of the pool" }),
  service: Type.String({ description: "signed; public base URL of this registry" }),
  issuedAt: Type.Integer({ description: "signed; Unix seconds" }),
  expiresAt: Type.Integer({ description: "Unix seconds; from then on the number is unknown" }),
};

export const MappingResponse = Type.Object(mapping);

const Change = Type.Object({ from: Type.String(), to: Type.String() });
const changed = Type.Optional(
  Type.Object(
    { wallet: Type.Optional(Change), encryptionPublicKey: Type.Optional(Change) },
    {
      description: "what the link replaced; shown only to a client that proved the number or has the same wallet",
    },
  ),
);

export const LinkResponse = Type.Object({
  ...mapping,
  remaining: Type.Array(
    Type.Object({
      step: Type.String({
        description: "enter-code: a code was sent. ask-again: it could not be sent; send the same request again",
      }),
      codeExpiresAt: Type.Optional(Type.Integer({ description: "Unix ms" })),
      tries: Type.Optional(Type.Integer({ description: "how often the code may be tried" })),
    }),
    { description: "remaining steps; empty if the link is verified" },
  ),
  changed,
});

export const VerifyResponse = Type.Object({ ...mapping, changed });
export const UnlinkResponse = Type.Object({ unlinked: Type.Boolean() });

export const RegistryResponse = Type.Object(
  {
    service: Type.String({ description: "public base URL; part of what wallets sign" }),
    chainId: Type.String({ description: "decimal" }),
    pool: Type.String(),
    signedLookups: Type.Boolean({ description: "whether resolve requires a wallet's signature" }),
    unverified: Type.String({ description: "show or hide: how resolve answers an unverified number" }),
    slotSeconds: Type.Integer({ description: "issuedAt is a multiple of this" }),
    lifetimeSeconds: Type.Integer({ description: "how long a link is valid, from issuedAt" }),
  },
  { description: "The values that wallets sign. Compare service with the address that you called." },
);
