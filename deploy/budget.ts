import { type Resources, type Stack, stackName } from './cloudformation.ts'

/**
 * A monthly budget in US dollars for the resources with the stage's tag. AWS e-mails when 80% of it is spent and when the
 * forecast exceeds it. An amount of 0 creates no budget.
 */
export const budgetResources = (
  { stage }: Pick<Stack, 'stage'>,
  { monthlyBudget, alarmEmail }: { monthlyBudget: string; alarmEmail: string },
): Resources => {
  const Amount = Number(monthlyBudget)
  if (Amount === 0) return {}
  const mailAt = (NotificationType: 'ACTUAL' | 'FORECASTED', Threshold: number) => ({
    Notification: {
      NotificationType,
      ComparisonOperator: 'GREATER_THAN',
      Threshold,
      ThresholdType: 'PERCENTAGE',
    },
    Subscribers: [{ SubscriptionType: 'EMAIL', Address: alarmEmail }],
  })
  return {
    Budget: {
      Type: 'AWS::Budgets::Budget',
      Properties: {
        Budget: {
          BudgetName: stackName(stage),
          BudgetType: 'COST',
          TimeUnit: 'MONTHLY',
          BudgetLimit: { Amount, Unit: 'USD' },
          CostFilters: { TagKeyValue: [`user:stage$${stage}`] },
        },
        NotificationsWithSubscribers: [mailAt('ACTUAL', 80), mailAt('FORECASTED', 100)],
      },
    },
  }
}
