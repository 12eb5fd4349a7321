export {
  type AppendCall,
  type AppendedEvent,
  abortable,
  type Block,
  type Call,
  type Chain,
  ChainError,
  type ChainErrorCode,
  type ChainOptions,
  type ChainSource,
  connectChain,
  type DepositedEvent,
  decodeEvent,
  type Log,
  type LogQuery,
  type PoolEvent,
  type SettledEvent,
  signatureCall,
  unlessAborted,
  type WithdrawnEvent,
} from "@sotto/chain";
export {
  appendCall,
  approveCall,
  type ContractCall,
  type DepositRequest,
  depositCall,
  depositWithAuthorizationCall,
  ethersChain,
  ethersProvider,
  poolInterface,
  sendCall,
  settleCall,
  tokenInterface,
  withdrawCall,
} from "@sotto/chain/ethers";
export { NoteAppender, type NoteAppenderOptions, type PreparedNoteAppend } from "./append/appender.ts";
export {
  CLIENT_ERRORS,
  FETCH_ERRORS,
  PHONE_PAYMENT_ERRORS,
  PREPAID_ERRORS,
  PURCHASE_ERRORS,
  RECEIPT_ERRORS,
  SERVICE_CLIENT_ERRORS,
  WALLET_ERRORS,
} from "./error-definitions.ts";
export { WalletError, type WalletErrorCode } from "./errors.ts";
export { FetchError, type FetchErrorCode } from "./fetch/errors.ts";
export type { ConfirmPayment, Offer } from "./fetch/offer.ts";
export type { PayingFetch, PayingInit, WrapOptions } from "./fetch/options.ts";
export type { PackWish, RestoreOptions } from "./fetch/packs.ts";
export type { PackEvent, PrepaidOptions } from "./fetch/prepaid-options.ts";
export type { ConfirmRecipient, RecipientChange } from "./fetch/recipient.ts";
export { createCheckedRequest } from "./fetch/request.ts";
export { buyPrepaid, type Quote, quotePayment, restorePrepaid, wrapFetch } from "./fetch/wrap.ts";
export { PhonePaymentError, type PhonePaymentErrorCode } from "./phone/errors.ts";
export {
  type BindingOptions,
  type BoundWallet,
  type PhoneLink,
  type SignedBinding,
  signBinding,
  signPhoneLink,
} from "./phone/link.ts";
export type { LookupSigner } from "./phone/lookup.ts";
export type { PhoneRecipient } from "./phone/mapping.ts";
export { phoneNumberOf } from "./phone/number.ts";
export {
  PHONE_HOST,
  type PhonePayment,
  type PhonePaymentRequest,
  type PhonePayOptions,
  payPhone,
} from "./phone/pay.ts";
export { type ChangeOptions, type ConfirmChange, type PhoneChange, type PhonePin, phonePin } from "./phone/pins.ts";
export { assertPhoneRecipient, checkRecipientPhone } from "./phone/recipient.ts";
export {
  type FoundPhone,
  type LookUpOptions,
  lookUpPhone,
  type ResolveOptions,
  resolvePhone,
} from "./phone/resolve.ts";
export { PrepaidError, type PrepaidErrorCode } from "./prepaid/errors.ts";
export {
  dropPrepaid,
  listPrepaid,
  type PrepaidOrigin,
  type PrepaidPackInfo,
  resumePrepaid,
} from "./prepaid/list.ts";
export { type PushedSchedule, pushSchedule } from "./prepaid/push.ts";
export type { PackState } from "./prepaid/records.ts";
export type { PurchaseOptions } from "./purchase/context.ts";
export { PurchaseError, type PurchaseErrorCode } from "./purchase/errors.ts";
export { assertSpendable, type SpendingLimits, spentOn } from "./purchase/limits.ts";
export { dismissPurchase, type OpenPurchase, openPurchases } from "./purchase/open.ts";
export type { PaidPurchase, Refusal } from "./purchase/paid.ts";
export type { OnProgress, PurchaseProgress, PurchaseStage } from "./purchase/progress.ts";
export { type KeyedRequest, type PurchaseRequest, purchase } from "./purchase/purchase.ts";
export { type PrepareOptions, prepareNotes, type SplitOptions } from "./purchase/split.ts";
export {
  type OpenStateName,
  PURCHASE_STATES,
  type PurchaseState,
  type PurchaseStateName,
} from "./purchase/states.ts";
export { NoteReader } from "./scan/note-reader.ts";
export type { Findings, FoundNote, FoundSpend, NoteOrigin } from "./scan/notes.ts";
export { NoteScanner, type ScanKeys } from "./scan/scanner.ts";
export type { ScanProgress, ScanResult } from "./scan/types.ts";
export {
  createSeedWords,
  type SeedSigner,
  seedFromAccount,
  seedFromWords,
  shieldedAddressOf,
  wordsFromSeed,
} from "./seed.ts";
export { ServiceClientError, type ServiceClientErrorCode } from "./service/errors.ts";
export type { Outcome, PhoneMapping, Settlement, VerifiedPayment } from "./service/responses.ts";
export { type CallOptions, type FollowOptions, type ServiceOptions, SottoService } from "./service/service.ts";
export { MemoryStore } from "./store/memory.ts";
export { isCacheKey, type Store, type StoreChange, type StoredRecord, type StoreValue } from "./store/store.ts";
export type {
  CashedOut,
  CashOutOptions,
  CashOutProgress,
  CashOutStage,
  ResumeWithdrawalOptions,
  SubmitWithdrawal,
  UnfinishedWithdrawal,
} from "./wallet/cash-out.ts";
export type { PoolInfo, PoolOptions } from "./wallet/connect.ts";
export type { ScanOptions, WalletProver } from "./wallet/core.ts";
export type { DepositSigner } from "./wallet/deposit.ts";
export type { AuthorizeOptions, DepositCalls, DepositOptions } from "./wallet/fund.ts";
export type {
  Funded,
  FundingProgress,
  FundingStage,
  FundOptions,
  ResumeDepositOptions,
  UnfinishedDeposit,
} from "./wallet/funding.ts";
export type { AutoMerge, PayOptions } from "./wallet/merge-first.ts";
export type { Payment } from "./wallet/pay.ts";
export type { PaymentRecipient, PaymentRequest } from "./wallet/payment-request.ts";
export type { PrepareRequest } from "./wallet/prepare.ts";
export type { PreparedTerms } from "./wallet/prepared.ts";
export { splitAmount } from "./wallet/select.ts";
export type { Balance, NoteState, PaymentState, PaymentStatus, WalletNote } from "./wallet/state.ts";
export { type Received, ViewingWallet, type ViewingWalletOptions } from "./wallet/viewing.ts";
export { describeWaiting, type Waiting, type WaitingWallet, waitingOf } from "./wallet/waiting.ts";
export { Wallet, type WalletOptions } from "./wallet/wallet.ts";
export type { Withdrawal } from "./wallet/withdraw.ts";
export type { ExitRequest, Fee, MergeRequest, WithdrawalRequest } from "./wallet/withdrawal-terms.ts";
