import type { ShieldedAddressBinding } from "../binding/binding.ts";
import type { Address } from "../ethereum-address.ts";
import type { ScheduleReference } from "../schedule/reference.ts";

/** Body of a resource server's 402 response (interface 2.6). Fields marked "ours" are not part of the interface. */
export interface PaymentInstructions {
  /** The HTTP status, repeated. */
  readonly status: 402;
  /** A message for people, 1 to 256 characters. */
  readonly message: string;
  /** Constant of interface 2.6. */
  readonly protocol: "x402";
  /** Constant of interface 2.6. */
  readonly privacy: "zero-knowledge";
  /** The terms, and where to verify and settle. */
  readonly payment: {
    /** Constant of interface 2.6. */
    readonly method: "service-zk";
    /** The paid wallet and its shielded address, which the wallet signed. */
    readonly recipient: InstructionsRecipient;
    /** Ours: the schedule that lists the recipient's address; absent if the address is not one of a month. */
    readonly schedule?: ScheduleReference | undefined;
    /** The price in whole tokens, exactly equal to `amountBaseUnits`. */
    readonly amount: number;
    /** Ours: the price in base units, decimal. */
    readonly amountBaseUnits: string;
    /** Name of the token. `asset` is authoritative. */
    readonly currency: "USDC";
    /** Ours: the token's address. */
    readonly asset: Address;
    /** Ours: the token's decimals, 0 to 18. */
    readonly decimals: number;
    /** Ours: EIP-155 chain id, decimal. */
    readonly chainId: string;
    /** Ours: the ShieldedPool. */
    readonly pool: Address;
    /** How a payment hides amount and payer. */
    readonly privacy: {
      /** Lifted ElGamal on Baby Jubjub. */
      readonly amountEncryption: "elgamal";
      /** The payment proof does not show which note is spent. */
      readonly senderPrivacy: "zero-knowledge";
      /** Groth16 over BN254. */
      readonly proofSystem: "groth16";
    };
    /** The proof that pays, and the service's artifacts to make it. */
    readonly zkProof: {
      /** True, unless the server also answers without a proof. */
      readonly required: boolean;
      /** The service's `/circuits`. Clients rely on their compiled-in hashes instead. */
      readonly circuitUrl: string;
      /** The service's `/proving-key`. Clients rely on their compiled-in hashes instead. */
      readonly provingKeyUrl: string;
      /** Public signals that name recipient, resource and amount. */
      readonly expectedPublicInputs: readonly ["recipientAddress", "resourceUrl", "encryptedAmount"];
      /** Ours: maximum length of an X-Payment-Proof header, characters; absent if the server does not state it. */
      readonly maxHeaderLength?: number | undefined;
    };
    /** http(s) URL of the service's POST /verify, at most 2,048 characters. */
    readonly verifyEndpoint: string;
    /** http(s) URL of the service's POST /settle, at most 2,048 characters. */
    readonly settleEndpoint: string;
  };
  /** Id and time of this response, and the resource. */
  readonly metadata: {
    /** zk_req_<ms>_<random letters and digits>. Informative. */
    readonly requestId: string;
    /** Milliseconds since the Unix epoch. */
    readonly timestamp: number;
    /** URL of the resource. The payment is bound to this URL, byte for byte. */
    readonly resource: string;
  };
}

/** The recipient. The last four fields are sotto's extension: the wallet's signature of its shielded address. */
export interface InstructionsRecipient {
  /** E.164, or "" if the binding has no number. */
  readonly phone: string;
  /** The recipient's wallet: `recipientPublicKey` of a payment. */
  readonly wallet: Address;
  /** Whether the registry of the phone number stores the mapping encrypted. */
  readonly encryptedMapping: boolean;
  /** The address that is paid, 64 bytes as hex with 0x. */
  readonly shieldedAddress: string;
  /** Signature of the ShieldedAddressBinding that consists of these fields and the payment's chainId and pool. */
  readonly signature: string;
  /** When the wallet signed, seconds since the Unix epoch, a multiple of 300. */
  readonly issuedAt: number;
  /** Base URL of the binding's registry, or "". */
  readonly service: string;
}

/** The values from which the body of a 402 response is built. */
export interface InstructionsOptions {
  /** The recipient's binding. The payment takes its chainId and pool from the binding. */
  readonly binding: ShieldedAddressBinding;
  /** The wallet's signature of the binding, 1 to 8,192 bytes, hex with 0x. */
  readonly signature: string;
  /** The schedule that lists the binding's address. Default: none; the address is not one of a month. */
  readonly schedule?: ScheduleReference | undefined;
  /** Base units, at least 1. The price in whole tokens must be exact as a JSON number. */
  readonly price: bigint;
  /** Address of the pool's token, 20 bytes, hex with 0x. */
  readonly asset: string;
  /** Decimals of the token, 0 to 18. */
  readonly decimals: number;
  /** Base URL of the service that verifies and settles. */
  readonly serviceUrl: string;
  /** http(s) URL of the resource, at most 2,048 characters. */
  readonly resource: string;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /** Whether the registry stores the phone number encrypted. Default: true if there is a number. */
  readonly encryptedMapping?: boolean | undefined;
}
