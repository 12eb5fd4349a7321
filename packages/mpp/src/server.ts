// `@sotto/mpp/server`: MPP as a payment method of a paywall of @sotto/resource-server.
export {};
