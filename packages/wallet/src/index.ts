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
export { RECEIPT_ERRORS, SERVICE_CLIENT_ERRORS, WALLET_ERRORS } from "./error-definitions.ts";
export { WalletError, type WalletErrorCode } from "./errors.ts";
export { NoteReader } from "./scan/note-reader.ts";
export type { Findings, FoundNote, FoundSpend, NoteOrigin } from "./scan/notes.ts";
export {
  type BlockKeys,
  isOutsideMonth,
  type KeyOf,
  type ScanKeys,
  viewingScanKeys,
  walletScanKeys,
} from "./scan/scan-keys.ts";
export { NoteScanner } from "./scan/scanner.ts";
export type { ScanProgress, ScanResult, SearchProgress } from "./scan/types.ts";
export {
  createSeedWords,
  type SeedSigner,
  seedFromAccount,
  seedFromWords,
  shieldedAddressOf,
  wordsFromSeed,
} from "./seed.ts";
export { dispatcherOf, separateFetch } from "./service/connection.ts";
export { ServiceClientError, type ServiceClientErrorCode } from "./service/errors.ts";
export { type Answer, type AnswerLimits, exchange, type NoAnswer } from "./service/exchange.ts";
export type { Json } from "./service/http.ts";
export type { Outcome, PhoneMapping, Settlement, VerifiedPayment } from "./service/responses.ts";
export {
  type CallOptions,
  type FollowOptions,
  type ServiceOptions,
  SottoService,
  type VerifyOptions,
} from "./service/service.ts";
export { normalizeServiceUrl } from "./service/url.ts";
export { MemoryStore } from "./store/memory.ts";
export { isCacheKey, type Store, type StoreChange, type StoredRecord, type StoreValue } from "./store/store.ts";
export type { GroupOf, MixOption, NoteChoice } from "./wallet/apart.ts";
export type {
  CashedOut,
  CashOutOptions,
  CashOutProgress,
  CashOutStage,
  ResumeWithdrawalOptions,
  SubmitWithdrawal,
  UnfinishedWithdrawal,
} from "./wallet/cash-out.ts";
export { type PoolInfo, type PoolOptions, parseCount } from "./wallet/connect.ts";
export type { LastingAddress, ScanOptions, WalletProver } from "./wallet/core.ts";
export type { DepositSigner } from "./wallet/deposit-signer.ts";
export type { AuthorizeOptions, DepositCalls, DepositOptions } from "./wallet/fund.ts";
export type {
  Funded,
  FundingProgress,
  FundingStage,
  FundOptions,
  ResumeDepositOptions,
  UnfinishedDeposit,
} from "./wallet/funding.ts";
export { IdleSearch, type IdleSearchOptions } from "./wallet/idle-search.ts";
export { Lock } from "./wallet/lock.ts";
export type { AutoMerge, PayOptions } from "./wallet/merge-first.ts";
export type { Payment } from "./wallet/pay.ts";
export {
  type CheckedPayment,
  type PaymentRecipient,
  type PaymentRequest,
  parsePaymentRequest,
} from "./wallet/payment-request.ts";
export type { PrepareOptions, PrepareRequest } from "./wallet/prepare.ts";
export { MAX_PREPARED, type PreparedTerms } from "./wallet/prepared.ts";
export type { ProveNoteOptions } from "./wallet/prove-note.ts";
export type { SearchOptions } from "./wallet/search.ts";
export { splitAmount } from "./wallet/select.ts";
export type { Balance, NoteState, PaymentState, PaymentStatus, WalletNote, WalletSpend } from "./wallet/state.ts";
export { type Received, type Spent, ViewingWallet, type ViewingWalletOptions } from "./wallet/viewing.ts";
export { type ViewingKeysOptions, viewingKeysOf } from "./wallet/viewing-keys.ts";
export { describeWaiting, type Waiting, type WaitingWallet, waitingOf } from "./wallet/waiting.ts";
export { Wallet, type WalletOptions } from "./wallet/wallet.ts";
export type { Withdrawal } from "./wallet/withdraw.ts";
export type { ExitRequest, Fee, MergeRequest, WithdrawalRequest } from "./wallet/withdrawal-terms.ts";
