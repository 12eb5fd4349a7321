import { parseCharge, proofPayload } from "@sotto/mpp";
import { type EthCall, encodeProofHeader, verifyBindingSignature } from "@sotto/protocol";
import type { SottoService, Wallet } from "@sotto/wallet";
import { Credential, Method, PaymentRequest, z } from "mppx";

/** The method `sotto` of MPP for mppx's client. It pays at most `limit` base units for a challenge. */
export function sottoCharge(wallet: Wallet, service: SottoService, call: EthCall, limit: bigint) {
  const json = z.record(z.string(), z.unknown());
  const schema = { credential: { payload: json }, request: json };
  return Method.toClient(Method.from({ name: "sotto", intent: "charge", schema }), {
    async createCredential({ challenge }) {
      const { amount, asset, binding, signature, resource, ...asked } = parseCharge(
        PaymentRequest.serialize(challenge.request),
      );
      if (resource === undefined || amount > limit) throw new Error("this challenge is not paid");
      const { chainId, pool, token } = wallet.pool;
      if (binding.chainId !== chainId || binding.pool !== pool || asset !== token || asked.service !== service.url)
        throw new Error("this challenge is for another chain, pool, token or service");
      if (!(await verifyBindingSignature(binding, signature, call))) throw new Error("the recipient did not sign");
      const recipient = { wallet: binding.wallet, shieldedAddress: binding.key };
      const { bundle } = await wallet.pay({ recipient, amount, resourceUrl: resource });
      const { paymentToken } = await service.verify(bundle);
      const { txSignature } = await service.settle(bundle, paymentToken);
      const payload = proofPayload(encodeProofHeader({ bundle, paymentToken, txSignature }));
      return Credential.serialize({ challenge, payload });
    },
  });
}
