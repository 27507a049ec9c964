export const unsupported: string | undefined
