/** The first parts of the panel's addresses, such as `#/orders`, in the order of its navigation. */
export const PANEL_PAGES = [
  'orders',
  'documents',
  'refused',
  'products',
  'customers',
  'webhooks',
  'settings',
  'testing',
] as const
