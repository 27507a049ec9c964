import { TABLES } from '../lib/platform/names.ts'
import {
  allow,
  arn,
  arnOf,
  type Resources,
  ref,
  roleOf,
  type Stack,
  stackName,
  sub,
} from './cloudformation.ts'
import { tablesOf } from './tables.ts'

/** How long AWS Backup keeps a backup and its copy, in days. The tables have point-in-time recovery for 35 days. */
export const BACKUP_DAYS = { here: 1, copy: 7 } as const

/**
 * Daily backups of the retained tables, copied to a vault in another region; none if it is empty. Both vaults are named
 * like the stack and are not part of it: they outlive it, and CloudFormation cannot create one in another region.
 *
 * @param region the region of the copies
 */
export const backupResources = (stack: Stack, region: string): Resources => {
  if (region === '') return {}
  const vault = stackName(stack.stage)
  const copies = sub(`arn:\${AWS::Partition}:backup:${region}:\${AWS::AccountId}:backup-vault:${vault}`)
  const tables = tablesOf(stack)
    .filter(({ retained }) => retained)
    .map(({ id }) => arnOf(id))
  return {
    BackupPlan: {
      Type: 'AWS::Backup::BackupPlan',
      Properties: {
        BackupPlan: {
          BackupPlanName: vault,
          BackupPlanRule: [
            {
              RuleName: 'daily',
              TargetBackupVault: vault,
              ScheduleExpression: 'cron(0 1 * * ? *)',
              Lifecycle: { DeleteAfterDays: BACKUP_DAYS.here },
              CopyActions: [
                { DestinationBackupVaultArn: copies, Lifecycle: { DeleteAfterDays: BACKUP_DAYS.copy } },
              ],
            },
          ],
        },
        // The deployer's policy depends on these tags.
        BackupPlanTags: { project: 'order-relay', stage: stack.stage },
      },
    },
    BackupSelection: {
      Type: 'AWS::Backup::BackupSelection',
      Properties: {
        BackupPlanId: ref('BackupPlan'),
        BackupSelection: {
          // If the orders table changes, CloudFormation creates the new selection before it deletes the old one.
          SelectionName: stack.ordersTable ?? TABLES.orders,
          IamRoleArn: arnOf('BackupRole'),
          Resources: tables,
        },
      },
    },
    BackupRole: roleOf('backup', 'Permissions of AWS Backup to copy the tables of order-relay', [
      allow(
        [
          'dynamodb:CreateBackup',
          'dynamodb:DescribeTable',
          'dynamodb:ListTagsOfResource',
          'dynamodb:StartAwsBackupJob',
        ],
        tables,
      ),
      allow(
        ['backup:CopyIntoBackupVault', 'backup:DescribeBackupVault'],
        [arn('backup', `backup-vault:${vault}`), copies],
      ),
      // Backups and their copies inherit the tags of the tables.
      allow(
        ['backup:TagResource'],
        [sub(`arn:\${AWS::Partition}:backup:*:\${AWS::AccountId}:recovery-point:*`)],
      ),
    ]),
  }
}
