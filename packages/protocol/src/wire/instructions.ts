import type { ShieldedAddressBinding } from "../binding/binding.ts";
import type { Address } from "../ethereum-address.ts";

/** Body of a resource server's 402 answer. Fields marked "ours" are beyond the shared interface. */
export interface PaymentInstructions {
  readonly status: 402;
  /** A text for people. */
  readonly message: string;
  readonly protocol: "x402";
  readonly privacy: "zero-knowledge";
  readonly payment: {
    readonly method: "service-zk";
    readonly recipient: InstructionsRecipient;
    /** The price in whole tokens; `amountBaseUnits` says the same exactly. */
    readonly amount: number;
    /** Ours: the price in base units, decimal. */
    readonly amountBaseUnits: string;
    readonly currency: "USDC";
    /** Ours: the token's address. */
    readonly asset: Address;
    /** Ours: the token's decimals, 0 to 18. */
    readonly decimals: number;
    /** Ours: EIP-155 chain id, decimal. */
    readonly chainId: string;
    /** Ours: the ShieldedPool. */
    readonly pool: Address;
    readonly privacy: {
      readonly amountEncryption: "elgamal";
      readonly senderPrivacy: "zero-knowledge";
      readonly proofSystem: "groth16";
    };
    readonly zkProof: {
      readonly required: boolean;
      readonly circuitUrl: string;
      readonly provingKeyUrl: string;
      readonly expectedPublicInputs: readonly ["recipientAddress", "resourceUrl", "encryptedAmount"];
      /** Ours: characters the server takes in an X-Payment-Proof header; left out by servers that do not state it. */
      readonly maxHeaderLength?: number;
    };
    readonly verifyEndpoint: string;
    readonly settleEndpoint: string;
  };
  readonly metadata: {
    /** zk_req_<ms>_<random letters and digits>. */
    readonly requestId: string;
    /** Milliseconds since the Unix epoch. */
    readonly timestamp: number;
    /** URL of the resource: what a payment is bound to, byte for byte. */
    readonly resource: string;
  };
}

/** Who is paid. The last four are ours: the wallet's signature of its shielded address. */
export interface InstructionsRecipient {
  /** E.164, or "" where the binding names none. */
  readonly phone: string;
  readonly wallet: Address;
  readonly encryptedMapping: boolean;
  /** 64 bytes as hex with 0x. */
  readonly shieldedAddress: string;
  /** Of the ShieldedAddressBinding made of these fields and chainId and pool of the payment. */
  readonly signature: string;
  /** Seconds. */
  readonly issuedAt: number;
  /** The binding's registry, or "". */
  readonly service: string;
}

export interface InstructionsOptions {
  /** Whose chainId and pool are the payment's. */
  readonly binding: ShieldedAddressBinding;
  readonly signature: string;
  /** Base units. */
  readonly price: bigint;
  readonly asset: string;
  readonly decimals: number;
  /** Base address of the service that verifies and settles, without a slash at its end. */
  readonly serviceUrl: string;
  readonly resource: string;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /** Of the payment's phone number; left out: true where there is a number. */
  readonly encryptedMapping?: boolean;
}
