export { permit2Interface, poolInterface, tokenInterface } from "./abi.ts";
export {
  appendCall,
  approveCall,
  type ContractCall,
  type DepositRequest,
  depositCall,
  depositFunction,
  depositWithAuthorizationCall,
  permitCall,
  redeemAuthorizationCall,
  settleCall,
  withdrawCall,
} from "./calls.ts";
export { ethersProvider } from "./chain-provider.ts";
export { type EthersChainOptions, ethersChain } from "./provider-source.ts";
export { sendCall } from "./send.ts";
