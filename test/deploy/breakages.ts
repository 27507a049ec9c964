import { change } from './project.ts'

/**
 * Ways to break a deployment on purpose, each with the step that must notice: a proof that nothing can fail
 * proves nothing.
 */
export const BREAKAGES: Readonly<
  Record<string, { noticedBy: string; apply: (folder: string) => Promise<void> }>
> = {
  'no handler': {
    noticedBy: 'register',
    apply: folder =>
      change(folder, 'serverless.yml', 'functions/webhook.handler', 'functions/webhook.absent'),
  },
  'worker may not tell the stores': {
    noticedBy: 'feed',
    apply: folder =>
      change(folder, 'deploy/roles.cjs', "[arnOf('Quarantine'), ...feeds]", "[arnOf('Quarantine')]"),
  },
  'orders are not kept': {
    noticedBy: 'remove',
    apply: async folder => {
      await change(folder, 'deploy/tables.yml', 'DeletionPolicy: Retain', 'DeletionPolicy: Delete')
      await change(
        folder,
        'deploy/tables.yml',
        'DeletionProtectionEnabled: true',
        'DeletionProtectionEnabled: false',
      )
    },
  },
}
