import type { ShieldedAddressBinding } from "../binding/binding.ts";
import type { Address } from "../ethereum-address.ts";

/** Body of a resource server's 402 response. Fields marked "ours" are not part of docs/interface.md. */
export interface PaymentInstructions {
  readonly status: 402;
  /** A message for people. */
  readonly message: string;
  readonly protocol: "x402";
  readonly privacy: "zero-knowledge";
  readonly payment: {
    readonly method: "service-zk";
    readonly recipient: InstructionsRecipient;
    /** The price in whole tokens, exactly equal to `amountBaseUnits`. */
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
      /** Ours: maximum length of an X-Payment-Proof header, characters; absent if the server does not state it. */
      readonly maxHeaderLength?: number | undefined;
    };
    readonly verifyEndpoint: string;
    readonly settleEndpoint: string;
    /** Ours: the server also accepts a prepaid token for this request; absent if it does not. */
    readonly prepaid?: PrepaidOffer | undefined;
  };
  readonly metadata: {
    /** zk_req_<ms>_<random letters and digits>. */
    readonly requestId: string;
    /** Milliseconds since the Unix epoch. */
    readonly timestamp: number;
    /** URL of the resource. The payment is bound to this URL, byte for byte. */
    readonly resource: string;
  };
}

/** The key whose prepaid tokens pay for the request. It is the same for all payers. */
export interface PrepaidOffer {
  /** Id of the key that signs now, 32 bytes as hex with 0x. */
  readonly tokenKeyId: string;
  /** Value of its tokens in base units, decimal: exactly the price. */
  readonly value: string;
}

/** The recipient. The last four fields are sotto's extension: the wallet's signature of its shielded address. */
export interface InstructionsRecipient {
  /** E.164, or "" if the binding has no number. */
  readonly phone: string;
  readonly wallet: Address;
  readonly encryptedMapping: boolean;
  /** 64 bytes as hex with 0x. */
  readonly shieldedAddress: string;
  /** Signature of the ShieldedAddressBinding that consists of these fields and the payment's chainId and pool. */
  readonly signature: string;
  /** Seconds since the Unix epoch. */
  readonly issuedAt: number;
  /** Base URL of the binding's registry, or "". */
  readonly service: string;
}

/** The values from which the body of a 402 response is built. */
export interface InstructionsOptions {
  /** The recipient's binding. The payment takes its chainId and pool from the binding. */
  readonly binding: ShieldedAddressBinding;
  readonly signature: string;
  /** Base units. */
  readonly price: bigint;
  readonly asset: string;
  readonly decimals: number;
  /** Base URL of the service that verifies and settles. */
  readonly serviceUrl: string;
  readonly resource: string;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /** Whether the registry stores the phone number encrypted. Default: true if there is a number. */
  readonly encryptedMapping?: boolean | undefined;
  /** Id of the prepaid key that signs now for this price, hex with 0x. Default: the request takes no prepaid tokens. */
  readonly prepaidKeyId?: string | undefined;
}
