export { type AppendStatement, appendChallenge, CHECKPOINT_LEAVES, evaluateAppend, foldQueue } from "./append.ts";
export {
  assertBinding,
  assertIssuedAt,
  BINDING_SLOT_SECONDS,
  type BindingTypedData,
  bindingDigest,
  bindingRequest,
  bindingTypedData,
  MAX_SERVICE_LENGTH,
  type ShieldedAddressBinding,
} from "./binding/binding.ts";
export { checkBinding } from "./binding/check.ts";
export { isUndeployedSignature } from "./binding/eip6492.ts";
export {
  LOOKUP_LIFETIME_SECONDS,
  lookupDigest,
  lookupTypedData,
  type PhoneLookup,
  type PhoneUnlink,
  type RequestTypedData,
  unlinkDigest,
  unlinkTypedData,
} from "./binding/requests.ts";
export {
  type EthCall,
  MAX_SIGNATURE_BYTES,
  normalizeSignature,
  verifyBindingSignature,
  verifyWalletSignature,
} from "./binding/signature.ts";
export {
  assertBindingFresh,
  assertBindingTime,
  BINDING_LEAD_SECONDS,
  BINDING_LIFETIME_SECONDS,
  BINDING_MAX_AGE_SECONDS,
  bindingSlots,
} from "./binding/time.ts";
export { isArrayBuffer, isBytes } from "./bytes.ts";
export {
  type Bytes32,
  DEPOSIT_AUTHORIZATION_TYPES,
  type DepositNotes,
  depositAuthorizationNonce,
  depositBlinding,
  MAX_DEPOSIT_SIGNATURE_BYTES,
  paymentContext,
  type Resource,
  resourceDigest,
  resourceHash,
  signalsDigest,
  validUntilOf,
  type WithdrawalTerms,
  withdrawalContext,
  withdrawalPadContext,
} from "./contexts.ts";
export {
  addPoints,
  BASE8,
  IDENTITY,
  isInSubgroup,
  isOnCurve,
  multiplyPoint,
  negatePoint,
  type Point,
  pointFromX,
  SUBGROUP_ORDER,
} from "./curve/babyjub.ts";
export { packPoint, unpackPoint } from "./curve/codec.ts";
export { montgomeryEighth, toMontgomery } from "./curve/montgomery.ts";
export { formatDecimalAmount, parseDecimalAmount } from "./decimal.ts";
export type { Deployment } from "./deployment.ts";
export {
  type Ciphertext,
  type Encryption,
  encryptAmount,
  exponentOf,
  packCiphertext,
  randomScalar,
  SCALAR_BITS,
  unpackCiphertext,
} from "./elgamal.ts";
export { PROTOCOL_ERRORS, SHARED_ERRORS } from "./error-definitions.ts";
export { foreign, ProtocolError, type ProtocolErrorCode, quoted } from "./errors.ts";
export { type Address, addressToBigInt, parseAddress } from "./ethereum-address.ts";
export { BASE_FIELD_MODULUS, FIELD_MODULUS, toField } from "./field.ts";
export {
  CIRCUITS,
  type CircuitInputs,
  type CircuitName,
  type CircuitSignals,
  MAX_APPEND_LEAVES,
  type PaymentSignals,
  TREE_ARITY,
  TREE_CAPACITY,
  TREE_DEPTH,
  WITHDRAWAL_INPUTS,
  type WithdrawalSignals,
} from "./generated/circuits.ts";
export { shieldedPoolAbi } from "./generated/shielded-pool-abi.ts";
export { bytesToHex, hexToBytes } from "./hex.ts";
export { deriveKeys, MAX_KEY_INDEX, type MonthKeys, randomSeed, WalletKeys } from "./keys.ts";
export {
  allowsDevelopment,
  defaultFinality,
  LOCAL_CHAIN_IDS,
  MAX_FINALITY,
  REHEARSAL_CHAIN_ID,
} from "./local-chains.ts";
export { endingWith, type ForeignText, type MessagePart, message } from "./message.ts";
export {
  addMonths,
  describeMonths,
  MONTH_GRACE_MS,
  MONTH_MARGIN_MS,
  type Month,
  monthAt,
  monthEnd,
  monthRange,
  monthStart,
  monthsAt,
  monthsNear,
  parseMonth,
} from "./month.ts";
export { networkOf, networksOf } from "./networks.ts";
export { type Note, noteCommitment, nullifier, ownerTagOf } from "./note.ts";
export { MAX_URL_LENGTH } from "./object-fields.ts";
export { invisibleCharacter, phoneDigits, trimPasted } from "./pasted.ts";
export { type AmountBounds, amountBounds } from "./payment/bounds.ts";
export {
  assertSameCiphertext,
  checkCiphertext,
  decodeBundle,
  encodeBundle,
  type PaymentBundle,
  type WireBundle,
} from "./payment/bundle.ts";
export type { DepositCall, PaymentCall, WithdrawalCall } from "./payment/calls.ts";
export {
  differingClaim,
  MAX_PAYMENT_TOKEN_LENGTH,
  type PaymentTokenClaims,
  parseTokenClaims,
  TOKEN_TYPE,
  tokenClaims,
} from "./payment/claims.ts";
export { checkFreshness, MAX_CLOCK_SKEW_MS, MAX_PAYMENT_AGE_MS, type StaleTimestamp } from "./payment/freshness.ts";
export type { Mismatch, MismatchKind } from "./payment/mismatch.ts";
export {
  checkOpening,
  type OpenedSignals,
  type PaymentOpening,
  signalsOfOpening,
} from "./payment/opening.ts";
export {
  PAYMENT_SIGNAL,
  paymentSignals,
  RANGE_SIGNAL,
  type RangeSignals,
  rangeSignals,
  signalWords,
  WITHDRAWAL_SIGNAL,
  withdrawalSignals,
} from "./payment/signals.ts";
export {
  canonicalPayment,
  checkPayment,
  checkRecipient,
  completeBundle,
  openingOf,
  type PartialBundle,
  type PaymentStatement,
  type PaymentTerms,
  parsePayment,
  parseStatement,
  type ReceivedPayment,
} from "./payment/statement.ts";
export type { PaymentClaim, PaymentUse, PaymentUses } from "./payment/uses.ts";
export {
  PERMIT_TYPES,
  PERMIT2,
  PERMIT2_DEPOSIT_TYPES,
  type Permit2Deposit,
  type Permit2Message,
  type PermitMessage,
  permit2Domain,
  permit2Message,
  permitMessage,
} from "./permit2.ts";
export { DOMAIN, hashNode, poseidon, poseidonEx } from "./poseidon/hash.ts";
export type { PermuteMany } from "./poseidon/permutation.ts";
export { type PoseidonRecurrence, poseidonRecurrence } from "./poseidon/recurrence.ts";
export { type AppendArguments, type AppendInputs, prepareAppend } from "./prepare/append.ts";
export { type OriginArguments, type OriginInputs, prepareOrigin } from "./prepare/origin.ts";
export { type PaymentArguments, type PaymentInputs, preparePayment, withResource } from "./prepare/payment.ts";
export { prepareRange, type RangeArguments } from "./prepare/range.ts";
export type { CircuitInput, CircuitValue, SpendableNote, Statement } from "./prepare/types.ts";
export {
  prepareWithdrawal,
  type WithdrawalArguments,
  type WithdrawalInputs,
} from "./prepare/withdrawal.ts";
export { isPublicAccount } from "./public-accounts.ts";
export { randomField } from "./random.ts";
export {
  nonceOfReceiptKey,
  receiptKeyOf,
  receiptSecret,
  signWithReceiptKey,
  verifyReceiptSignature,
} from "./receipt-key.ts";
export { type ChangeReader, type DeliveredChange, decryptChange } from "./scan/change.ts";
export { LADDER_CURVE, multiplyXs } from "./scan/ladder.ts";
export {
  type DeliveredNote,
  type ReceivedNote,
  type ScanKernel,
  scanNotes,
  tryDecrypt,
  type Viewer,
} from "./scan/scanner.ts";
export {
  addressesDue,
  addressesEnd,
  assertMonthAddresses,
  MAX_ADDRESSES_LENGTH,
  type MonthAddresses,
  type MonthAddressesJson,
  type MonthBinding,
  monthAddressesJson,
  monthBindings,
  parseMonthAddresses,
  type SharedBindingFields,
  type SignedMonthBinding,
} from "./schedule/addresses.ts";
export { AddressBook, type ListedAddress } from "./schedule/book.ts";
export { checkMonthAddresses, checkSchedule } from "./schedule/check.ts";
export {
  MAX_SCHEDULE_LENGTH,
  parseSchedule,
  type ScheduleJson,
  type SignedSchedule,
  scheduleJson,
} from "./schedule/file.ts";
export { parseScheduleReference, SCHEDULE_PATH, type ScheduleReference } from "./schedule/reference.ts";
export {
  type AddressSchedule,
  addressInSchedule,
  assertSchedule,
  MAX_SCHEDULE_MONTHS,
  MAX_SEQUENCE_LEAD_SECONDS,
  payableMonths,
  type ScheduleTypedData,
  scheduleDigest,
  scheduleMonths,
  scheduleRequest,
  scheduleTypedData,
} from "./schedule/schedule.ts";
export {
  changeSecrets,
  hiddenCipherX,
  hintOf,
  type NoteSecrets,
  noteSecrets,
  openHint,
  type Recipient,
  recipientSignal,
  senderCommitment,
  senderNonce,
} from "./secrets.ts";
export { SEED_TYPED_DATA, seedFromSignature } from "./seed-signature.ts";
export {
  addressOwnerTag,
  decodeShieldedAddress,
  encodeShieldedAddress,
  type ShieldedAddress,
} from "./shielded-address.ts";
export {
  createErrorClass,
  type DefinedError,
  type ErrorClass,
  type ErrorDefinition,
  type ErrorDetails,
  type ErrorTable,
  type ExitName,
  type Remedy,
  SottoError,
} from "./sotto-error.ts";
export { NoteTree, type TreePath } from "./tree/note-tree.ts";
export { emptyRoots } from "./tree/shape.ts";
export {
  assertAmount,
  assertField,
  assertUint,
  MAX_AMOUNT,
  parseAmount,
  parseBaseField,
  parseField,
} from "./validate.ts";
export {
  assertViewingKeys,
  describeKeys,
  formatViewingKeys,
  MAX_VIEWING_KEYS,
  MAX_VIEWING_KEYS_LENGTH,
  monthsOfKeys,
  parseViewingKeys,
  type ViewingKey,
  type ViewingKeys,
} from "./viewing-key.ts";
export { ANONYMOUS } from "./wire/anonymous.ts";
export { baseUrl } from "./wire/base-url.ts";
export { buildInstructions, requestId } from "./wire/build-instructions.ts";
export type { InstructionsOptions, InstructionsRecipient, PaymentInstructions } from "./wire/instructions.ts";
export {
  DEPLOYMENT_CONTRACTS,
  type DeployedContract,
  type DeploymentContract,
  type DeploymentManifest,
  parseDeployment,
} from "./wire/manifest.ts";
export { type Offers, parseOffers } from "./wire/offers.ts";
export { bindingOfInstructions, parseInstructions } from "./wire/parse-instructions.ts";
export { priceNumber } from "./wire/price.ts";
export {
  encodeProofHeader,
  MAX_PROOF_HEADER_LENGTH,
  maxProofHeaderLength,
  type ProofHeader,
  type ProofHeaderContent,
  parseProofHeader,
} from "./wire/proof-header.ts";
export { readBody, type StopSignal, type UnreadResponse } from "./wire/read-body.ts";
export { requestedUrl } from "./wire/requested-url.ts";
export { isSecureUrl } from "./wire/secure-url.ts";
export {
  type WithdrawalArgument,
  withdrawalArgument,
  withdrawalPublicSignals,
  withdrawalStatementHash,
} from "./withdrawal.ts";
