export const webhookSecret = async (): Promise<string> => process.env.WEBHOOK_SECRET ?? ''
